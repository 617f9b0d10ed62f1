const [key, depth] = arguments
const button = document.querySelector(`.pile[data-key='${key}']`)
const {left, top, width, height} = button.getBoundingClientRect()
const tops = [...document.querySelectorAll(`.tile .card[data-pile='${key}']`)].map(card => parseFloat(card.style.top))
const scale = getComputedStyle(button.closest(".table")).getPropertyValue("--scale")
const felt = button.closest(".table").getBoundingClientRect().top
const y = depth ? felt + (10 + tops.sort((a, b) => a - b).at(-depth)) * scale : top + height / 2
const at = document.elementFromPoint(left + width / 2, y)
at.dispatchEvent(new MouseEvent("click", {bubbles: true, detail: 1, clientX: left + width / 2, clientY: y}))
return at === button
