const [key, depth] = arguments
const at = key => document.querySelector(`.pile[data-key='${key}']`)
const table = at(key).closest(".table")
const corner = ({style}) => [parseFloat(style.left), parseFloat(style.top)]
const all = [...document.querySelectorAll(`.tile .card[data-pile='${key}']`)].map(corner)
const cards = all.sort((a, b) => a[1] - b[1] || a[0] - b[0])
const [x, y] = cards.at(-depth) ?? corner(at(key))
const seen = depth > 1 ? cards.at(1 - depth)[1] - y : 16 // of a card; less in a long column
const scale = getComputedStyle(table).getPropertyValue("--scale")
const {left, top} = table.getBoundingClientRect() // cards may still be on their way
return [left + (x + 29) * scale, top + (y + 6 + Math.min(8, seen / 2)) * scale]
