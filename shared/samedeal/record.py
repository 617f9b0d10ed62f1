"""Records: a whole race as one text, which people can read and which anybody can replay and check.

::

    samedeal record 3
    room: friday
    round: 0
    game: willow
    rules: 1a2b...
    description: 90b1...
    deal: #4821
    undo: no-reveal
    limit: 900
    terms: 09ab...
    commitment: 5f1c...
    start: 2026-11-22T14:05:43.123Z
    end: 2026-11-22T14:12:01.001Z
    players: 2
    seed: 03ab...

    player: 1 ana
    chain: 41d2...
    place: 1
    cards: 52
    time: 312.004
    1.204 7f3a21 3 5
    2.871 09bc55 r 0
    head: 77c0...

    digest: 1f3a...

RECORDS.md specifies the format byte by byte. The lines above ``terms`` are the terms of the race (``samedeal.terms``).
``terms`` and ``digest`` are hashes of the lines above them. A line that begins with a digit is an action of the player.
The action stands after its time and the first digits of the head of the player's chain (see ``action_chain``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from typing import Final, NamedTuple

from samedeal.action_chain import HEAD_BYTES, first_head, next_head, player_lines
from samedeal.board import Board
from samedeal.board_history import UNDO, Play, Undo
from samedeal.deal import Deal, commitment, shuffled
from samedeal.deal_proof import FIRST_LINE, DealProof
from samedeal.errors import (
    BadRecord,
    DealNotCheckable,
    DealNotProven,
    MalformedTerms,
    MalformedText,
    OtherVersion,
    PlayError,
    UnknownGame,
    UnknownTerms,
)
from samedeal.game import Game
from samedeal.joint_deal import MAX_DRAWS, opening_of
from samedeal.moves import Move
from samedeal.names import clean_name, removed_name
from samedeal.options import MAX_SEATS
from samedeal.sentences import mistake
from samedeal.standings import Result, ranked
from samedeal.tagged_lines import TaggedLines, number_between, read_hash
from samedeal.terms import RoomTerms
from samedeal.utc_text import parse_utc, utc_text

VERSION: Final = 3
"""Version of the format.

Raise it also when ``samedeal.ENGINE`` is raised, so that a record always leads to the same boards.
"""

LARGEST_RECORD: Final = 1_100_000
"""Maximum length of a record, in bytes. That of 64 players who make all actions that they may make has 1,016,000."""

_FIRST: Final = f"samedeal record {VERSION}"
_DIGEST: Final = "digest: "
_CHECK_DIGITS: Final = 6
_RULES: Final = 3  # the place of the rules among the lines of the terms
_ACTION: Final = re.compile(rf"([0-9]{{1,6}})\.([0-9]{{3}}) ([0-9a-f]{{{_CHECK_DIGITS}}}) (.+)")
_SECONDS: Final = re.compile(r"([0-9]{1,6})\.([0-9]{3})")
_CHANGED_LINES: Final = "The hash in the last of these lines does not match the others. A line was changed or removed."
_CHANGED_ACTION: Final = "The hash in this line does not match. The line was changed, or a line before it was removed."


@dataclass(frozen=True)
class RecordedPlayer:
    """A player of a recorded race.

    ``time`` is the time from the start of the race to the player's finish, in milliseconds, or 0 if the player
    did not finish. Each of ``actions`` is a pair: the time since the start of the race, in milliseconds, and the action
    as text. ``first_head`` is the head before them if the name was removed, from which it follows, and empty otherwise.
    ``began_at`` is when the player began in a race with a window, in milliseconds since 1970, and otherwise 0. All times
    of the player count from then.
    """

    seat: int
    name: str
    place: int
    foundation_cards: int
    actions: tuple[tuple[int, str], ...]
    time: int = 0
    bot: bool = False
    resigned: bool = False
    first_head: bytes = b""
    began_at: int = 0


class _Line(NamedTuple):
    """A line that a record must have.

    ``key`` identifies the line in error reports. ``wrong`` is the error sentence about a text that has another line at
    this place. If ``wrong`` is empty, the sentence quotes the expected line. Apart from this line, the error names those
    with the numbers ``others``.
    """

    text: str
    key: tuple[object, ...] = ()
    wrong: str = ""
    others: Sequence[int] = ()


@dataclass(frozen=True)
class Record:
    """A race, or one player's part of a race.

    ``start`` and ``end`` are in milliseconds since 1970. ``commitment`` is the hash by which the server committed itself
    to the deal in advance. ``seed`` is empty if the deal has a ``proof``. ``entrants`` is the number of
    players in the race. A record that a client writes has only the client's own player in ``players``.
    """

    terms: RoomTerms
    commitment: bytes
    start: int
    end: int
    seed: bytes
    entrants: int
    players: tuple[RecordedPlayer, ...]
    proof: DealProof | None = None

    @property
    def game(self) -> Game:
        """The game of the race."""
        return self.terms.game

    @property
    def deal(self) -> Deal:
        """The deal of the race."""
        return self.terms.deal

    @property
    def undo_rule(self) -> Undo:
        """The undo rule of the race."""
        return self.terms.options.undo_rule

    @property
    def actions(self) -> tuple[tuple[int, str], ...]:
        """The actions of the first player, each with its time in milliseconds since the start of the race.

        A record that a client writes has only one player.
        """
        return self.players[0].actions

    @property
    def is_whole(self) -> bool:
        """Whether the record has all players of the race."""
        return len(self.players) == self.entrants

    def without_names(self, seats: Collection[int]) -> Record:
        """Return the record without the names of the players with these seats. It can no longer be checked."""
        names = {player.name: removed_name(player.seat) for player in self.players if player.seat in seats}
        players = tuple(
            replace(player, name=names[player.name], first_head=next(self.heads(player)))
            if player.name in names
            else player
            for player in self.players
        )
        proof = self.proof and replace(
            self.proof,
            lost=tuple(each._replace(name=names.get(each.name, each.name)) for each in self.proof.lost),
            shares=tuple(each._replace(name=names.get(each.name, each.name)) for each in self.proof.shares),
        )
        return replace(self, players=players, proof=proof)

    @property
    def limit(self) -> int:
        """The time limit of the race, in milliseconds."""
        return 1000 * self.terms.options.limit

    @property
    def length(self) -> int:
        """How long the race lasted, in milliseconds. In a window, each player has the time limit."""
        return self.limit if self.terms.window else self.end - self.start

    @property
    def first_play(self) -> Play:
        """The play before the first action. It is the same for all players."""
        deal = self.proof.board() if self.proof else Board.deal(self.game, shuffled(self.seed, self.game.decks))
        return Play(deal, self.undo_rule)

    def heads(self, player: RecordedPlayer) -> Iterator[bytes]:
        """Yield the heads of a player's chain: the head before the first action, and the head after each action."""
        named = self.terms.digest, player.began_at or self.start, player.seat, player.name
        head = player.first_head or first_head(*named, bot=player.bot)
        yield head
        for revision, (time, action) in enumerate(player.actions, 1):
            head = next_head(head, revision, time, action)
            yield head

    def plays(self, player: RecordedPlayer) -> list[Play]:
        """Return a player's plays: the play before the first action, and the play after each action.

        Raise BadRecord with a sentence that names the line if an action is not allowed.
        """
        plays = [self.first_play]
        for number, (_, action) in enumerate(player.actions, 1):
            try:
                plays.append(plays[-1].act(action))
            except PlayError as error:
                sentence = mistake("action", name=player.name, action=action, error=error)
                raise self._wrong(sentence, "action", player.seat, number) from None
        return plays

    def replay(self) -> Play:
        """Return the first player's play after all actions. Raise BadRecord if an action is not allowed."""
        return self.plays(self.players[0])[-1]

    def check(self) -> None:
        """Check the deal, every action, and the standings.

        The limits of the search for the deal are only checked if this release describes the game as the server did.
        Raise BadRecord with a sentence that names the line if something is wrong, or DealNotCheckable if a name was
        removed. This method does not check the hashes in the text, because ``parse`` has done so.
        """
        if any(player.first_head for player in self.players):
            raise DealNotCheckable("The operator removed a name from this record, so it can't be checked.")
        self._check_deal()
        longest = 1000 * self.terms.window or self.limit
        if not self.start <= self.end <= self.start + longest:
            raise self._wrong("The race can't have ended at that time.", "end")
        results = []
        for player in self.players:
            plays = self.plays(player)
            last = plays[-1]
            self._check_times(player)
            won = next((number for number, play in enumerate(plays[:-1], 1) if play.board.won), 0)
            if won:
                raise self._wrong(f"{player.name} had finished by then.", "action", player.seat, won)
            cards = last.board.foundation_cards
            if cards != player.foundation_cards:
                told = player.foundation_cards
                sentence = mistake("cards", name=player.name, cards=cards, total=self.game.cards, told=told)
                raise self._wrong(sentence, "cards", player.seat)
            finish = player.actions[-1][0] if last.board.won and player.actions else 0
            if finish != player.time:
                name = player.name
                wrong = (
                    mistake("finish", name=name, time=_seconds(finish)) if finish else mistake("no_finish", name=name)
                )
                raise self._wrong(wrong, "time" if player.time else "cards", player.seat)
            if finish and player.resigned:
                raise self._wrong(f"{player.name} finished, and can't have resigned.", "resigned", player.seat)
            if player.place > self.entrants:
                raise self._wrong(mistake("high_place"), "place", player.seat, after="players")
            results.append((player, self._result(player, plays)))
        for place, player in ranked(results) if self.is_whole else ():
            if place != player.place:
                raise self._wrong(f"{player.name}'s place is {place}, not {player.place}.", "place", player.seat)

    def _check_times(self, player: RecordedPlayer) -> None:
        limit, length, before = self.limit, self.end - (player.began_at or self.start), 0
        has_begun = self.start <= player.began_at <= self.end if player.began_at else not player.actions
        if not (has_begun if self.terms.window else not player.began_at):
            tag = "began" if player.began_at else "player"
            raise self._wrong(f"{player.name} can't have begun at that time.", tag, player.seat)
        for number, (time, _) in enumerate(player.actions, 1):
            if time < before:
                raise self._wrong("The action in the line before was made later.", "action", player.seat, number)
            if time >= limit:
                raise self._wrong("The time of the race was up by then.", "action", player.seat, number)
            if time > length:
                raise self._wrong(mistake("late_action"), "action", player.seat, number, after="end")
            before = time

    def check_deeply(self) -> None:
        """Check the record as ``check`` does. Also check the proof of a joint or daily deal with the solver.

        This takes as long as finding the deal.
        """
        self.check()
        if self.proof is not None:
            if not self.terms.is_described:
                raise self._wrong(mistake("other_search", game=self.game.title), "description")
            try:
                self.proof.check_deeply()
            except (DealNotProven, DealNotCheckable) as error:
                raise self._wrong(str(error), "proof") from None

    def _check_deal(self) -> None:
        terms, proof = self.terms, self.proof
        if terms.deal.has_proof != (proof is not None):
            raise self._wrong(mistake("proof_or_seed"), "proof" if proof else "seed")
        if proof is None:
            if commitment(terms.digest, self.seed) != self.commitment:
                raise self._wrong(mistake("other_seed"), "seed", after="commitment")
            if terms.deal.public and terms.deal.public_seed() != self.seed:
                raise self._wrong(f"This is not the seed of deal {terms.deal}.", "seed")
            return
        try:
            proof.check()
            proof.check_kind(terms.deal)
        except DealNotProven as error:
            raise self._wrong(str(error), "proof") from None
        except DealNotCheckable as error:
            if terms.is_described:
                raise self._wrong(str(error), "proof") from None
        of_proof = (proof.terms.room, proof.terms.game, proof.digest, proof.commitment)
        if of_proof != (terms.room, terms.game, terms.digest, self.commitment):
            raise self._wrong(mistake("other_proof"), "proof", after="commitment")
        if any(share.seat > MAX_SEATS for share in proof.shares):
            raise self._wrong(f"The highest seat of a race is {MAX_SEATS}.", "proof")
        if opening_of(proof.draw) > 0 and not terms.window:
            raise self._wrong(f"A deal is drawn at most {MAX_DRAWS} times.", "proof")
        dealt = {(share.seat, share.name) for share in proof.shares}
        for player in () if proof.public or terms.window else self.players:
            if (player.seat, player.name) not in dealt:
                raise self._wrong(f"The proof has no share of {player.name} (seat {player.seat}).", "proof")

    def _result(self, player: RecordedPlayer, plays: Sequence[Play]) -> Result:
        start, cards, progress = self.start, 0, 0
        for (time, _), play in zip(player.actions, plays[1:], strict=True):
            if play.board.foundation_cards != cards:
                cards, progress = play.board.foundation_cards, start + time
        finish = start + player.time if player.time else 0
        has_raced = player.began_at > 0 or not self.terms.window
        return Result(player.seat, player.foundation_cards, finish, progress, has_raced)

    def _wrong(self, sentence: str, *key: object, after: str = "") -> BadRecord:
        """Return the error of the lines with a key, and of the line ``after`` which they stand if they contradict it."""
        lines = [number for number, line in enumerate(self._layout(), 1) if line.key in (key, (after,))]
        return BadRecord(sentence, lines[0], lines[-1])

    def __str__(self) -> str:
        return "".join(f"{line.text}\n" for line in self._layout())

    def _layout(self) -> list[_Line]:
        lines = [_Line(_FIRST), *(_Line(line, (line.partition(":")[0],)) for line in self.terms.lines())]
        lines.append(_Line(f"terms: {self.terms.digest.hex()}", wrong=_CHANGED_LINES, others=[2]))
        lines.append(_Line(f"commitment: {self.commitment.hex()}", ("commitment",)))
        lines.append(_Line(f"start: {utc_text(self.start)}", ("start",)))
        start = len(lines)
        lines.append(_Line(f"end: {utc_text(self.end)}", ("end",)))
        lines.append(_Line(f"players: {self.entrants}", ("players",)))
        if self.proof is None:
            lines.append(_Line(f"seed: {self.seed.hex()}", ("seed",)))
        else:
            lines += [_Line(f"proof: {line}", ("proof",)) for line in str(self.proof).splitlines()]
        for player in self.players:
            lines += ((_Line("")), *self._player_layout(player, start, len(lines) + 2))
        lines.append(_Line(""))
        digest = sha256("".join(f"{line.text}\n" for line in lines).encode()).hexdigest()
        return [*lines, _Line(f"{_DIGEST}{digest}", ("digest",))]

    @property
    def digest(self) -> bytes:
        """The hash in the last line, which covers the whole record."""
        return bytes.fromhex(self._layout()[-1].text.removeprefix(_DIGEST))

    def _player_layout(self, player: RecordedPlayer, start: int, first: int) -> list[_Line]:
        seat, name = player.seat, player.name
        first_head, *heads = self.heads(player)
        lines = [_Line(line, (line.partition(":")[0], seat)) for line in player_lines(seat, name, bot=player.bot)]
        if player.began_at:
            lines.append(_Line(f"began: {utc_text(player.began_at)}", ("began", seat)))
        others = (start, *range(first, first + len(lines)))
        lines.append(_Line(f"chain: {first_head.hex()}", wrong=_CHANGED_LINES, others=others))
        lines.append(_Line(f"place: {player.place}", ("place", seat)))
        lines.append(_Line(f"cards: {player.foundation_cards}", ("cards", seat)))
        if player.time:
            lines.append(_Line(f"time: {_seconds(player.time)}", ("time", seat)))
        if player.resigned:
            lines.append(_Line("resigned: yes", ("resigned", seat)))
        for revision, ((time, action), head) in enumerate(zip(player.actions, heads, strict=True), 1):
            text = f"{_seconds(time)} {head.hex()[:_CHECK_DIGITS]} {action}"
            lines.append(_Line(text, ("action", seat, revision), _CHANGED_ACTION))
        last_head = [first_head, *heads][-1]
        lines.append(_Line(f"head: {last_head.hex()}", wrong=_CHANGED_ACTION))
        return lines

    @classmethod
    def read(cls, data: bytes) -> Record:
        """Return the record in a file with these bytes. Raise BadRecord if the file is not a record or was changed."""
        if len(data) > LARGEST_RECORD:
            raise BadRecord(f"The file is longer than {LARGEST_RECORD} bytes. No record is as long.")
        try:
            return cls.parse(data.decode())
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise BadRecord("There are bytes that are not UTF-8.", line) from None

    @classmethod
    def parse(cls, text: str) -> Record:
        """Return the record for a text that ``str`` has written.

        Raise BadRecord with a sentence that names the line if the text is not a record or was changed.
        """
        lines = text.split("\n")
        _check_version(lines[0])
        if lines[-1] or len(lines) < 3 or not lines[-2].startswith("digest: "):
            last = len(lines) if lines[-1] else len(lines) - 1
            raise BadRecord("The record is cut off: it must end with a line 'digest: ...' and a line break.", last)
        lines.pop()
        record = _Reader(lines).record()
        record._check_lines(lines)  # noqa: SLF001  # of the same class
        record._check_players()  # noqa: SLF001  # after the hashes, which find the line that was changed
        return record

    def _check_lines(self, lines: Sequence[str]) -> None:
        """Raise BadRecord unless ``str`` would write exactly these lines for this record."""
        layout = self._layout()
        for number, (found, line) in enumerate(zip(lines[:-1], layout[:-1], strict=True), 1):
            if found != line.text:
                wrong = line.wrong or f"The line should read {line.text[:80]!r}."
                raise BadRecord(wrong, *line.others, number)
        if lines[-1] != layout[-1].text:
            self.check()
            unproven = [number for number, line in enumerate(layout, 1) if line.key[:1] in self._unproven]
            raise BadRecord("The digest in the last line does not match, so one of these lines was changed.", *unproven)

    def _check_players(self) -> None:
        """Raise BadRecord unless the seats are in rising order and the names differ."""
        for before, player in pairwise(self.players):
            if player.seat <= before.seat:
                raise self._wrong("The seats of the players are not in rising order.", "player", player.seat)
        names = [player.name for player in self.players]
        for at, player in enumerate(self.players):
            if player.name in names[:at]:
                raise self._wrong(f"Another player has the name {player.name} too.", "player", player.seat)

    @property
    def _unproven(self) -> list[tuple[str]]:
        """The keys of the lines that only the digest protects."""
        return [("end",), ("players",), ("resigned",), ("digest",), *([] if self.is_whole else [("place",)])]


def _check_version(line: str) -> None:
    if line == _FIRST:
        return
    other = re.fullmatch(r"samedeal record ([0-9]{1,9})", line)
    if not other:
        raise BadRecord(f"This is not a record. Its first line must be {_FIRST!r}.", 1)
    what = "Update Samedeal" if int(other[1]) > VERSION else "Read it with an older Samedeal"
    raise OtherVersion(f"This is a record of version {other[1]}, and this Samedeal reads version {VERSION}. {what}.", 1)


class _Reader(TaggedLines):
    """A reader that goes through the lines of a record from top to bottom."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__(lines, lambda error, line: BadRecord(str(error), min(line + 1, len(lines))), at=1)

    def record(self) -> Record:
        """Read everything after the first line, and return the record."""
        terms = self._terms()
        self.take("terms", str)
        commitment, start = self.take("commitment", read_hash), self.take("start", parse_utc)
        end = self.take("end", parse_utc)
        entrants = self.take("players", _seat_number)
        players_line = self.at
        proof = self._proof()
        seed = b"" if proof else self.take("seed", read_hash)
        players: list[RecordedPlayer] = []
        while self.at < len(self._lines) - 2 or not players:
            self._take_blank()
            players.append(self._player())
        if len(players) not in (1, entrants):
            raise BadRecord(f"The record has {len(players)} players, not {entrants}.", players_line)
        self._take_blank()
        return Record(terms, commitment, start, end, seed, entrants, tuple(players), proof)

    def _terms(self) -> RoomTerms:
        first = self.at
        while self.line and not self.has("terms"):
            self.at += 1
        lines = self._lines[first : self.at]
        try:
            return RoomTerms.read(lines)
        except MalformedTerms as error:
            wrong = [first + 1 + error.line] if error.line >= 0 else [first + 1, first + len(lines)]
            raise BadRecord(str(error), *wrong) from None
        except UnknownTerms as error:
            if error.line > _RULES:
                raise BadRecord(f"{error} Update Samedeal.", first + 1 + error.line) from None
            rules = "".join(lines[_RULES : _RULES + 1]).removeprefix("rules: ")
            advice = (
                f"The record needs the file of the game whose rules have a hash that begins with {rules[:12]}. "
                "Give it with --games FILE."
            )
            raise BadRecord(f"{error} {advice}", first + _RULES, first + _RULES + 1) from None

    def _player(self) -> RecordedPlayer:
        seat, name = self.take("player", _seat)
        bot = self.take_if("bot", _yes, default=False)
        began = self.take_if("began", parse_utc, default=0)
        is_removed = name == removed_name(seat)
        first = self.take("chain", lambda text: read_hash(text, HEAD_BYTES) if is_removed else b"")
        place = self.take("place", _number)
        cards = self.take("cards", _number)
        finish = self.take_if("time", _millis, default=0)
        resigned = self.take_if("resigned", _yes, default=False)
        actions = []
        while self.line[:1].isdigit():
            actions.append(self.take_line(_action))
        self.take("head", lambda text: read_hash(text, HEAD_BYTES))
        return RecordedPlayer(seat, name, place, cards, tuple(actions), finish, bot, resigned, first, began)

    def _proof(self) -> DealProof | None:
        first = self.at
        while self.has("proof"):
            self.at += 1
        if self.at == first:
            return None
        text = "".join(f"{line.removeprefix('proof: ')}\n" for line in self._lines[first : self.at])
        try:
            return DealProof.parse(text)
        except (MalformedText, UnknownGame) as error:
            cut_off = bool(self.line)  # a blank line follows a proof, so this line has lost its "proof: "
            other = re.match(r"samedeal deal [0-9]{1,9}\n", text)
            kind = OtherVersion if other and not text.startswith(f"{FIRST_LINE}\n") else BadRecord
            raise kind(str(error), first + 1, self.at + cut_off) from None

    def _take_blank(self) -> None:
        if self.line:
            raise self.refuse(f"Expected a blank line, not {self.line[:40]!r}.")
        self.at += 1


def _yes(text: str) -> bool:
    if text != "yes":
        raise MalformedText("The line must end with 'yes'.")
    return True


_number: Final = number_between(0, 999_999_999)
_seat_number: Final = number_between(1, MAX_SEATS)


def _seat(text: str) -> tuple[int, str]:
    number, _, name = text.partition(" ")
    return _seat_number(number), clean_name(name)


def _seconds(millis: int) -> str:
    return f"{millis // 1000}.{millis % 1000:03}"


def _millis(text: str) -> int:
    match = _SECONDS.fullmatch(text)
    if match is None:
        raise MalformedText(f"{text[:20]!r} is not a time. Write seconds with three decimals, as in 1.204.")
    return int(match[1]) * 1000 + int(match[2])


def _action(line: str) -> tuple[int, str]:
    match = _ACTION.fullmatch(line)
    if match is None:
        raise MalformedText(
            f"{line[:40]!r} is not an action. Write seconds with three decimals, {_CHECK_DIGITS} digits of the chain, "
            "and a move, as in '1.204 7f3a21 3 5'."
        )
    seconds, millis, _, action = match.groups()
    if action != UNDO:
        Move.parse(action)
    return int(seconds) * 1000 + int(millis), action
