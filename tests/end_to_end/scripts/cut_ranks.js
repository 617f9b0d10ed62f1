const pen = document.createElement("canvas").getContext("2d")
const cards = [...document.querySelectorAll(".tile:first-child .card")]
return cards.filter((card) => {
  const top = (other) => parseFloat(other.style.top)
  const below = cards.filter((other) => other.style.left === card.style.left && top(other) > top(card)).map(top)
  const [rank, strip] = [card.querySelector(".rank"), Math.min(top(card) + 64, ...below) - top(card)]
  if (!rank) return false
  pen.font = `700 ${rank.getAttribute("font-size")}px ${getComputedStyle(rank).fontFamily}`
  const {actualBoundingBoxAscent, actualBoundingBoxDescent} = pen.measureText(rank.textContent)
  const y = Number(rank.getAttribute("y"))
  return y < actualBoundingBoxAscent - 1 || y + actualBoundingBoxDescent > strip + 1
}).map((card) => card.textContent)
