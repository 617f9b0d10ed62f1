const piles = {}
for (const {dataset} of document.querySelectorAll(".tile:not([hidden]) .card"))
  (piles[dataset.pile] ??= []).push(Number(dataset.card))
return piles
