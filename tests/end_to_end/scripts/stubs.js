window.locks = window.tones = 0
const request = async () => ({released: window.locks++ < 0, release() { window.locks = -9 }})
Object.defineProperty(navigator, "wakeLock", {value: {request}})
const start = OscillatorNode.prototype.start
OscillatorNode.prototype.start = function (at) { window.tones++; start.call(this, at) }
addEventListener("click", event => event.isTrusted && event.stopPropagation(), true)
