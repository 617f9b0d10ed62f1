"""A replay of a recorded race as rows of text: the ranking at a moment, the slider, and the race in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from samedeal.series import record_standings
from samedeal.standings import Result, ranked
from samedeal_client.board.layout import Size
from samedeal_client.panels.final_standings import standing_lines
from samedeal_client.panels.key_help import fixed_sections, key_entry
from samedeal_client.panels.move_sentences import move_sentences
from samedeal_client.panels.race_feed import RankedPlayer
from samedeal_client.panels.records import record_heading
from samedeal_client.panels.spectator_grid import arrange, board_grid_rows
from samedeal_client.text.appearance import Look
from samedeal_client.text.player_names import player_name
from samedeal_client.text.spans import Row, Span
from samedeal_client.text.time_text import clock_text
from samedeal_link.model.model import WatchedBoard, placed
from samedeal_link.records.replay import Moment, RecordedRace, Replay, Track
from samedeal_link.records.spectating import PLAYER_KEYS


def replay_key_rows(look: Look, width: int) -> list[Row]:
    """Return all keys of a replay in rows of at most ``width`` columns."""
    return [
        row for keys, text in fixed_sections()["replay"][1] for row in key_entry(look.displayable(keys), text, width)
    ]


def ranking_at(race: RecordedRace, moment: Moment) -> tuple[RankedPlayer, ...]:
    """Return the players in the order of the record, each with the player's place at a moment."""
    results = []
    for track in race.tracks:
        now = track.progress[track.revision_at(moment)]
        result = Result(track.player.seat, now.foundation_cards, now.finished_at, now.last_progress_at)
        results.append((track, result))
    places = {id(track): place for place, track in ranked(results)}
    return tuple(
        RankedPlayer(
            places[id(track)],
            track.player.name,
            result.foundation_cards,
            race.record.game.cards,
            resigned=track.player.resigned and moment.time >= race.length,
            time=result.finished_at,
            player=str(number),
            bot=track.player.bot,
        )
        for number, (track, result) in enumerate(results)
    )


def heading_at(race: RecordedRace, number: int, moment: Moment) -> RankedPlayer:
    """Return the heading, at a moment, of the board with this number in ``shown_tracks``.

    The board after those of the players shows a winning line: moves that the solver has found.
    """
    if number < len(race.tracks):
        return ranking_at(race, moment)[number]
    track = race.shown_tracks[number]
    cards = track.plays[track.revision_at(moment)].board.foundation_cards
    return RankedPlayer(0, track.player.name, cards, race.record.game.cards)


def key_of(race: RecordedRace, number: int) -> str:
    """Return the key that shows a board, or an asterisk for the winning line and for further players.

    These have no keys.
    """
    return PLAYER_KEYS[number] if number < min(len(race.tracks), len(PLAYER_KEYS)) else "*"


def grid_rows(race: RecordedRace, replay: Replay, look: Look, size: Size) -> tuple[Row, ...]:
    """Return the boards that a replay shows, in a grid of this size."""
    shown = replay.shown(race)
    players = [heading_at(race, number, replay.moment)._replace(player=str(number)) for number in shown]
    boards = {str(number): board_at(race.shown_tracks[number], replay.moment) for number in shown}
    keys = {str(number): key_of(race, number) for number in shown}
    return board_grid_rows(players, boards, keys, look, arrange(race.record.game, len(shown), *size), 0)


def board_at(track: Track, moment: Moment) -> WatchedBoard:
    """Return the board of a track at a moment."""
    return WatchedBoard(track.plays[track.revision_at(moment)], moment.time)


def slider_row(replay: Replay, race: RecordedRace, look: Look, width: int) -> Row:
    """Return a row with the state of the replay and a slider that marks the time."""
    glyphs = look.glyphs
    sign = f" {glyphs.pointer} " if replay.playing else "|| " if look.ascii else " ‖ "
    before = f"{sign}{clock_text(replay.time)} "
    speed = f"{replay.speed:g}x" if look.ascii else f"{replay.speed:g}×"
    after = f" {clock_text(race.length)} {speed:>4} "
    length = max(width - len(before) - len(after), 1)
    at = min(replay.time * length // race.length, length - 1)
    return (
        Span(before, "title"),
        Span(glyphs.bar * at, "bar"),
        Span("o" if look.ascii else "●", "you"),
        Span(glyphs.rest * (length - at - 1), "rest"),
        Span(after, "label"),
    )


def slider_time(x: int, race: RecordedRace, width: int) -> int:
    """Return the time, in milliseconds since the start, at the column ``x`` of the row with the slider."""
    before, after = len(" > 00:00 "), len(f" {clock_text(race.length)}  0.5x ")
    length = max(width - before - after, 2)
    return round(min(max((x - before) / (length - 1), 0), 1) * race.length)


def last_action(race: RecordedRace, replay: Replay, look: Look) -> str:
    """Return a sentence about the last action of the first player that is shown. If all are shown, it is the leader."""
    players = ranking_at(race, replay.moment)
    number = min(players, key=lambda player: player.place).player if replay.everyone else replay.shown(race)[0]
    track = race.tracks[int(number)]
    revision = track.revision_at(replay.moment)
    name = player_name(track.player.name, look, bot=track.player.bot)
    if not revision:
        return f"{name} has not moved yet."
    (sentence,) = move_sentences(track.plays[revision - 1], track.plays[revision], look)
    return f"{name}, step {revision} of {len(track.times)}: {sentence}"


def replay_lines(race: RecordedRace, look: Look, only: int | None = None) -> Iterator[str]:
    """Yield a race as lines: a heading, a sentence for each action in the order of time, and the standings.

    If ``only`` is given, leave out the actions of all players except the player with this index.
    """
    yield look.displayable(record_heading(race.record))
    tracks = race.tracks if only is None else race.tracks[only : only + 1]
    actions = sorted(
        (time, at, revision) for at, track in enumerate(tracks) for revision, time in enumerate(track.times, 1)
    )
    total = race.record.game.cards
    for time, at, revision in actions:
        track = tracks[at]
        play = track.plays[revision]
        (sentence,) = move_sentences(track.plays[revision - 1], play, look)
        name = player_name(track.player.name, look, bot=track.player.bot)
        yield f"{clock_text(time)} {name}: {sentence} Foundations {play.board.foundation_cards}/{total}."
    yield from standing_lines(placed(record_standings(race.record), race.record.terms.window), total, look)
