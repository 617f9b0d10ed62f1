"""What the page keeps of its race, asks for and believes, with a connection that the tests hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import json
from msgspec.structs import replace

from samedeal.deal import Deal
from samedeal.options import Options
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import Joined, RoomState, Seat, Watching
from samedeal.terms import RoomTerms
from samedeal.verdict_rows import row_sentence
from samedeal_link.evidence.facts import Wanted
from samedeal_link.evidence.verdict import RaceReading
from tests.client.server_messages import SERVER, drawing, room_state
from tests.shared.javascript import evaluate_with_page, needs_node

pytestmark = needs_node

BROWSER = """
    const {appendFileSync} = await import("node:fs")
    for (const [module, more] of [["deep_check.js", "verdict.js"], ["witness.js", "evidence.js"]])
        appendFileSync(module, `\\nexport * from "./${more}"\\n`) // their bundles have it too
    const kept = {}
    const memory = {
        get: key => kept[key] ?? null,
        set: (key, value) => (value === null ? delete kept[key] : (kept[key] = value))
    }
    globalThis.location = {href: "http://x.test/k7", search: "", host: "x.test", pathname: "/k7"}
    globalThis.localStorage = {getItem: memory.get, setItem: memory.set, removeItem: key => memory.set(key, null)}
    globalThis.document = {documentElement: {classList: {toggle() {}}}, getElementById: () => null, addEventListener() {}}
    globalThis.addEventListener = () => {}
    globalThis.isSecureContext = true
    globalThis.setInterval = () => 0
    class Socket {
        static OPEN = 1
        readyState = 1
        constructor() { globalThis.socket = this }
        send() {}
        close() {}
    }
    globalThis.WebSocket = Socket
    const {Witness} = await import("./witness.js")
    const {enteredRoom, here, want, wantedIn} = await import("./here.js")
    const {Link} = await import("./link.js")
    const {decode} = await import("./msgpack.js")
    const bytes = text => Uint8Array.from(text.match(/../g), digits => parseInt(digits, 16))
    const seated = (witness, id, revision) => {
        witness.asks("player", "k7", {}, "p1", "ana")
        witness.sends({type: "join", id, room: "k7"}, id)
        witness.receives({type: "joined", to: id, room: "k7", seat: 1, generation: 1, revision}, id)
    }
    const pause = () => new Promise(resolve => setTimeout(resolve, 5))
    const told = []
    const screen = {showStatus() {}, status() {}, receive: message => told.push(message), message: each => told.push(each)}
"""


def page(program: str, folder: Path, given: Any = None) -> Any:
    """Run a program in the page, with what it is given as ``given``."""
    return evaluate_with_page(f"await (async given => {{{BROWSER}{program}}})(given)", given, folder)


def hexes(*messages: Joined | Watching | RoomState) -> list[str]:
    return [encode(each).hex() for each in messages]


def test_connection_that_is_cut_when_the_page_reads_the_record_accuses_nobody(tmp_path: Path) -> None:
    program = """
        const {readRace} = await import("./deep_check.js")
        const link = new Link(screen, here, "ana", "k7")
        socket.readyState = 3
        const [without, refused] = [() => link.ask(), () => Promise.reject({code: "no_room", message: "No."})]
        const answers = [without, without, refused]
        const {faults} = await readRace({ask: () => answers.shift()()}, "k7", {}, () => {})
        return faults
    """
    assert page(program, tmp_path) == [["no_record", "No."]]


def test_race_without_a_record_is_a_sentence_in_terminal_and_page(tmp_path: Path) -> None:
    program = """
        const [{Reading}, {rowSentence}] = await Promise.all([import("./verdict.js"), import("./evidence.js")])
        return new Reading({}).faults.map(rowSentence)
    """
    (fault,) = RaceReading().faults
    assert page(program, tmp_path) == [row_sentence(*fault)]
    assert row_sentence(*fault).endswith(".")


def test_unanswered_move_is_pinged_and_its_connection_given_up(tmp_path: Path) -> None:
    """After two seconds and five more, which the player sees. Any message in between keeps the connection."""
    program = """
        const {encode} = await import("./msgpack.js")
        const sent = []
        let now = 1e12
        performance.now = () => now
        document.hidden = false
        Socket.prototype.send = data => sent.push(decode(data.buffer).type)
        const link = new Link(screen, here, "ana", "k7")
        const pass = seconds => {
            for (let second = 0; second < seconds; second++) {
                now += 1000
                link.check()
            }
            return [link.waiting || 0, sent.splice(0).join(" "), link.retry ? "lost" : ""]
        }
        Object.assign(link, {live: true, welcomed: now})
        const found = [pass(3)]
        link.ask("act", {revision: 0, action: "draw"}).catch(() => {})
        found.push(pass(1), pass(1), pass(3))
        socket.onmessage({data: encode({type: "pong", to: 2, time: 0}).buffer})
        return [...found, pass(1), pass(5), link.live, pass(1)]
    """
    expected = [[0, "", ""], [0, "act", ""], [2, "ping", ""], [5, "", ""], [6, "ping", ""], [11, "", ""], True]
    assert page(program, tmp_path) == [*expected, [0, "", "lost"]]


def test_only_a_refusal_answers_a_request_that_it_does_not_name(tmp_path: Path) -> None:
    """The evidence does not know such an answer, which shows what cards the server likes."""
    program = """
        const link = new Link(screen, here, "ana", "k7")
        const answered = []
        const act = link.ask("act", {id: 50, revision: 0, action: "draw"})
        act.then(({type}) => answered.push(type), ({message}) => answered.push(message))
        const {encode} = await import("./msgpack.js")
        for (const message of [{type: "acked"}, {type: "refused", code: "malformed", message: "No."}]) {
            socket.onmessage({data: encode({to: -1, ...message}).buffer})
            await pause()
        }
        return answered
    """
    assert page(program, tmp_path) == ["Server: No."]


def test_sentence_of_the_server_does_not_look_like_a_verdict(tmp_path: Path) -> None:
    program = """
        const link = new Link(screen, here, "ana", "k7")
        const {encode} = await import("./msgpack.js")
        const notice = {type: "notice", message: "Fair."}
        for (const code of ["not_fair", "said"]) socket.onmessage({data: encode({...notice, code}).buffer})
        await pause()
        return told.map(({message}) => message)
    """
    assert page(program, tmp_path) == ["Server: Fair.", "Message from the operator: Fair."]


def test_racer_who_watches_the_others_keeps_the_evidence(tmp_path: Path) -> None:
    """Programs in terminals do."""
    program = """
        const witness = new Witness(memory)
        seated(witness, 1, 0)
        witness.evidence.begun = {start: 5, racers: []}
        witness.asks("spectator", "k7", {}, "p1", "ana")
        witness.sends({type: "watch", id: 2, room: "k7"}, 2)
        witness.receives({type: "watching", to: 2, room: "k7", delay: 0}, 3)
        return witness.evidence.role
    """
    assert page(program, tmp_path) == "player"


def test_spectator_who_comes_back_to_a_room_that_was_opened_anew_accuses_nobody(tmp_path: Path) -> None:
    program = """
        const witness = new Witness(memory)
        witness.asks("spectator", "k7", {}, "p9", "sue")
        const found = []
        given.forEach((state, id) => {
            witness.sends({type: "watch", id, room: "k7"}, id)
            witness.receives({type: "watching", to: id, room: "k7", delay: 15}, id)
            witness.receives(decode(bytes(state).buffer), id)
            found.push([Object.keys(witness.evidence.found), witness.evidence.commitment])
        })
        return found
    """
    commitments = (bytes(32), bytes(32), SERVER)
    expected = [[[], commitment.hex()] for commitment in commitments]
    assert page(program, tmp_path, hexes(*map(drawing, commitments))) == expected


def test_house_is_excused_only_where_the_server_lets_it_in(tmp_path: Path) -> None:
    """In a race without a host, and in its rematch. Elsewhere, the mark of the house excuses no bot."""
    program = """
        return given.map((state, id) => {
            const witness = new Witness(memory)
            seated(witness, id, -1)
            witness.receives(decode(bytes(state).buffer), id)
            witness.close()
            return "contradicting_terms" in witness.evidence.found
        })
    """
    seats = (Seat(player="p1", name="ana", seat=1), Seat(player="p2", name="Clover", seat=2, bot=True, house=True))

    def state(hosted: bool, number: int, *, house: bool = True) -> RoomState:
        options = Options(deal="#7", bots=False, hosted=hosted, start="full")
        terms = str(RoomTerms.of("k7", options, Deal.parse("#7"), round_number=number))
        players = (seats[0], replace(seats[1], house=house))
        return room_state("k7", options, players, phase="countdown", terms=terms, round=number)

    states = (state(False, 0), state(True, 1), state(True, 0), state(False, 0, house=False))
    assert page(program, tmp_path, hexes(*states)) == [False, False, True, True]


def test_public_deal_that_is_raced_again_in_a_room_with_the_same_code_is_another_race(tmp_path: Path) -> None:
    program = """
        const found = given.map((state, id) => {
            const witness = new Witness(memory)
            seated(witness, id, -1)
            witness.receives(decode(bytes(state).buffer), id)
            witness.close()
            return [Object.keys(witness.evidence.found), witness.evidence.results.length]
        })
        return found
    """
    seats = drawing().players[:1]
    state = room_state("k7", Options(deal="#7"), seats)
    over = room_state("k7", Options(deal="#7"), seats, phase="finished", starts=1000, ends=901_000, finished_at=2000)
    assert page(program, tmp_path, hexes(over, state)) == [[[], 1], [[], 0]]


def test_what_a_player_wanted_is_forgotten_in_the_room(tmp_path: Path) -> None:
    """A later room with its code may be one of others."""
    program = """
        want("k7", {round: 0})
        enteredRoom("other")
        const before = wantedIn("k7")
        enteredRoom("k7")
        return [before, wantedIn("k7")]
    """
    assert page(program, tmp_path) == [{"round": 0}, {}]


@pytest.mark.parametrize(
    "deal", ["winnable hard", "random", "#4821", "#999999999", "daily 1987-05-03", f"again {bytes(32).hex()}"]
)
def test_page_wants_the_rematch_that_terminals_want(deal: str, tmp_path: Path) -> None:
    options = Options(deal=deal, players=2, start="at", start_at=5, hosted=False, series=3)
    state = room_state("k7", options, (), round=4, private=True)
    program = """
        const {rematchOf} = await import("./race_state.js")
        return rematchOf(decode(bytes(given[0]).buffer))
    """
    wanted = Wanted(options=options.successor(Deal.parse(deal)), round=5, private=True)
    assert page(program, tmp_path, hexes(state)) == json.decode(json.encode(wanted))


JUDGING = """
    globalThis.matchMedia = () => ({matches: false})
    performance.getEntriesByType = () => [{type: "navigate"}]
    const {RaceScreen} = await import("./race_screen.js")
    const witness = new Witness(memory)
    witness.evidence.plus(["asked", "spectator", "k7", {}]).plus(["shown", given, "", null])
    let reads = () => {}
    const link = {witness, ask: async () => (reads(), Promise.reject({code: "no_room", message: "No."}))}
    const shown = []
    const judging = {link, room: "k7", credentials: {}, showVerdict: ({kind}) => shown.push(kind)}
    const judge = () => RaceScreen.prototype.judge.call(judging)
"""


def test_page_judges_again_what_is_shown_after_the_verdict(tmp_path: Path) -> None:
    program = f"""{JUDGING}
        await judge()
        await judge()
        witness.evidence.plus(["boardwatched", "p1", 1, "", 1, 0, 5])
        await judge()
        return shown
    """
    assert page(program, tmp_path, drawing().terms) == ["checking", "unsure", "unsure"]


def test_check_that_lasts_until_the_next_race_judges_nothing_there(tmp_path: Path) -> None:
    program = f"""{JUDGING}
        reads = () => witness.asks("spectator", "k8", {{}}, "p9", "sue") ?? (witness.evidence = witness.next)
        await judge()
        return [shown, Object.keys(witness.evidence.found)]
    """
    assert page(program, tmp_path, drawing().terms) == [["checking"], []]
