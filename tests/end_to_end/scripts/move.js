window.moved = true
const piles = () => [...document.querySelectorAll(".pile")]
for (const from of piles().filter(pile => !/foundation|stock|empty/.test(pile.ariaLabel))) {
  if (document.querySelector("#auto[aria-pressed=true]")) document.querySelector("#auto").click()
  from.click()
  const to = document.querySelector(".pile.takes")
  if (to) return to.click()
}
[...document.querySelectorAll("button")].find(each => each.textContent === "Undo")?.click() // at a dead end
