window.told = [];
new MutationObserver(() => window.told.push(document.querySelector(".deal strong").textContent))
  .observe(document.querySelector("#deal"), { childList: true });
