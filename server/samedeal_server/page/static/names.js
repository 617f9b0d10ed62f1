// Names for players who have not chosen one.

export const NAMES = "ada ben cleo dora eli finn gus hana iris jo kai lou mira nils otto pia quinn rosa sam tess uma vera wes yuki zoe".split(" ")

export const proposedName = () => `${NAMES[Math.floor(Math.random() * NAMES.length)]}-${Math.ceil(Math.random() * 99)}`

// The name to propose when another one is taken.
export const nextName = name => name.replace(/-?\d*$/, "-") + (1 + Number(/\d{1,6}$/.exec(name) ?? 1))
