// Sounds and short buzzes of a race, made here without files. They are loaded when the player switches them on.

const NOTES = {card: [660], lead: [520, 780], last: [880, 880], finish: [520, 660, 780, 1040], start: [780, 1040]} // Hz
const LENGTH = 0.12 // s

let context

export function play(what) {
	if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(what === "card" ? 10 : 60)
	context ??= new AudioContext()
	context.resume() // browsers let a page make sounds only after a tap
	NOTES[what].forEach((pitch, i) => {
		const [from, tone, volume] = [context.currentTime + i * LENGTH, context.createOscillator(), context.createGain()]
		tone.frequency.value = pitch
		volume.gain.setValueAtTime(0.12, from)
		volume.gain.exponentialRampToValueAtTime(0.001, from + LENGTH)
		tone.connect(volume).connect(context.destination)
		tone.start(from)
		tone.stop(from + LENGTH)
	})
}
