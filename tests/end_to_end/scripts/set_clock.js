const now = Date.now;
Date.now = () => now() + arguments[0];
document.querySelector("#clock").textContent = "";
