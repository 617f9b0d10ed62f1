"""The kit for writers of clients: it finds mistakes in copies of our own client, and its transcripts are true."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped]  # it ships no types
import pytest

from samedeal.games import GAMES
from tests.server.live_nodes import Node
from tests.server.plain_http import ask

ROOT = Path(__file__).parents[2]
KIT = ROOT / "shared" / "conformance"
TRANSCRIPTS = sorted((KIT / "transcripts").iterdir())

LINK = "client/samedeal_link/connection/reconnecting_link.py"
RESUME = "client/samedeal_link/connection/resume.py"

MESSAGES = "shared/samedeal/protocol/messages.py"
SHOWN = "client/samedeal_link/evidence/observation.py"
DRAWS = "client/samedeal_link/evidence/own_draws.py"
PLAY = "client/samedeal_link/model/own_play.py"

POST = "            self.post(replace(request, id=self.new_id()))\n"
REVEAL = f"""{POST}
            from samedeal.protocol.messages import RevealShare
            share = self.witness.evidence.shares[state.draw]
            self.post(RevealShare(id=self.new_id(), draw=state.draw, share=share))
"""
RENUMBERED = "tuple(replace(each, id=self.new_id()) for each in self._pending.in_order())"

MISTAKES = {
    "revision": (PLAY, "revision=self.next_revision", "revision=self.next_revision + 1"),
    "repeat": (LINK, "self._post_all(self._pending.in_order())", f"self._post_all({RENUMBERED})"),
    "early_share": (LINK, POST, REVEAL),
    "silence": (LINK, f"        if request is not None:\n{POST}", f"        if False:\n{POST}"),
    "unknown_field": (MESSAGES, 'tag_field="type", tag', 'tag_field="type", forbid_unknown_fields=True, tag'),
    "session": (LINK, "session = self._session or self._sessions.session(self.address.url, self.name)", 'session = ""'),
    "recover": (RESUME, "return NextStep(send=recovery, send", "return NextStep(send=(), send"),
    "reused_share": (LINK, "partial(secrets.token_bytes, SHARE_BYTES)", "partial(bytes, SHARE_BYTES)"),
    "takeover": (LINK, " and self._resumption.explains_takeover(self._clock())", ""),
    "changed_commitment": (SHOWN, "state.commitment != evidence.commitment", "False"),
    "other_hash": (DRAWS, "if seat.share_commitment != promise:", "if not seat.share_commitment:"),
    "changed_list": (DRAWS, "return evidence if earlier == sealed else None", "return evidence"),
    "lone_draw": (DRAWS, "not (is_needed or is_back)", "False"),
    "resume": (RESUME, "revision=self._revision, event=-1", "revision=self._revision - 1, event=-1"),
}
"""One-line mistakes in our client, by the code with which the kit names them: a file, a text in it, and another text."""


def copy_of_client(folder: Path, file: str, find: str, replacement: str) -> str:
    """Link to the files of our client, except for one with a mistake, and return a path for the packages."""
    for package in ("shared/samedeal", "client"):
        shutil.copytree(ROOT / package, folder / package, copy_function=os.symlink)
    text = (folder / file).read_text()
    assert text.count(find) == 1, (file, find)
    (folder / file).unlink()
    (folder / file).write_text(text.replace(find, replacement))
    return f"{folder}/shared:{folder}/client"


async def test_kit_finds_planted_mistakes(one: Node, tmp_path: Path, check_client: Any) -> None:
    turns = asyncio.Semaphore(3)

    async def found(code: str, folder: Path) -> str:
        path = copy_of_client(folder, *MISTAKES[code])
        words = ("-m", "samedeal_client", "bot", "{url}", "{room}", "--level", "random", "--pace", "1000")
        command = ["env", f"PYTHONPATH={path}", sys.executable, *words]
        async with turns:
            patience, lie = 5 if code == "silence" else 60, code if code in check_client.LIES else ""
            with pytest.raises(check_client.Mistake) as mistake:
                await check_client.Check(one.url, lambda _: None, lie).run(command, 0, patience, "ace-of-hearts")
        return str(mistake.value.code)

    codes = await asyncio.gather(*(found(code, tmp_path / code) for code in MISTAKES))
    assert codes == list(MISTAKES)


def test_kit_has_a_sentence_for_each_mistake(check_client: Any) -> None:
    named = re.findall(r'Mistake\("(\w+)"', (KIT / "check_client.py").read_text())
    assert {*named, *check_client.LIES} == set(check_client._SENTENCES)
    assert set(MISTAKES) <= set(check_client._SENTENCES)


async def test_kit_answers_plain_http_as_its_server(one: Node, check_client: Any) -> None:
    told: asyncio.Queue[str] = asyncio.Queue()
    running = asyncio.create_task(check_client.Check(one.url, told.put_nowait).run([], 0, 60, "klondike"))
    (url,) = re.findall(r"ws://\S+", await told.get())
    assert list(json.loads((await ask(url, "/games.json")).body)) == list(GAMES)
    assert (await ask(url, "/no/such/file")).status == 404
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


STEADY = (
    *("id", "to", "name", "revision", "action", "seen", "hash", "piles", "moves", "undos", "code", "game", "deal"),
)
"""Fields that are the same in each run. Those of a joint deal differ entirely, so that only its messages are compared."""


def frames(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """The frames of a transcript, each with its direction. The line above each frame tells the same."""
    blocks = re.findall(r"^([<>]) (\w+)[^\n]*\n((?:[0-9a-f]+\n)+)", path.read_text(), re.MULTILINE)
    found = []
    for direction, kind, digits in blocks:
        message = msgpack.unpackb(bytes.fromhex(digits.replace("\n", "")))
        assert message["type"] == kind
        found.append((direction, message))
    return found


def shape(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """The frames of a transcript with what is the same in each run, and without states that may come together."""
    names = ("type", *(() if path.name == "joint.txt" else STEADY))
    return [
        (direction, {name: message.get(name) for name in names})
        for direction, message in frames(path)
        if message["type"] not in ("roomstate", "progressupdate", "notice") or message.get("phase") == "finished"
    ]


def test_transcripts_are_those_of_this_release(tmp_path: Path) -> None:
    """The command that made them makes them again, apart from times, ids and random numbers."""
    program = KIT / "record_transcripts.py"
    told = {name: value for name, value in os.environ.items() if not name.startswith("SAMEDEAL_")}
    done = subprocess.run(
        (sys.executable, program, tmp_path),
        env=told,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert [path.name for path in TRANSCRIPTS] == sorted(path.name for path in tmp_path.iterdir())
    assert {f"race-{game}.txt" for game in GAMES} <= {path.name for path in TRANSCRIPTS}
    for path in TRANSCRIPTS:
        assert shape(path) == shape(tmp_path / path.name), path.name
        assert len(path.read_text().splitlines()) < 300
