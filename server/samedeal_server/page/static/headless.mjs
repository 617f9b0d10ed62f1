// What the modules of the page take from a browser, for the file that programs of others get. Node ends although the
// connection is still looked at.

const document = {hidden: false, documentElement: {classList: {toggle() {}}}}
const addEventListener = globalThis.addEventListener?.bind(globalThis) ?? (() => {})
const setInterval = (...given) => globalThis.setInterval(...given).unref?.()
