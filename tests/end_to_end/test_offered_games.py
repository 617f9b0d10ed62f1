"""A game that is in no release: a server offers it, and clients that were shipped without it play it."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from urllib.request import urlopen, urlretrieve

from tests.end_to_end.processes import Programs
from tests.shared.javascript import NODE, verdicts

GAMES = Path(__file__).parent / "games"
HOUSE = GAMES / "house.toml"


async def test_offered_game_is_raced_and_verified(programs: Programs, redis_url: str, tmp_path: Path) -> None:
    url, _ = await programs.server("--redis", redis_url, "--games", str(GAMES))
    host = await programs.samedeal(
        *("new", url, "--name", "ana", "--game", "house", "--deal", "winnable"),
        *("--undo", "free", "--players", "2", "--countdown", "0"),
    )
    room = (await host.expect(r"Room (\S+) is open"))[1]
    await programs.samedeal("bot", url, room, "--name", "ben", "--level", "careful", "--pace", "1000")
    watcher = await programs.samedeal("watch", url, room, "--name", "eve")
    await host.expect(r"ben \(bot\) joined")
    await host.reply("start", r"Foundations 0/52\.")
    await host.reply("9 1", "House Rules has no pile '9'")
    while True:  # until ana has heard of ben's moves
        host.type_lines("rivals")
        if (await host.expect(r"ben.*/52 in (\d+) move"))[1] != "0":
            break
    await host.reply("resign", r"The race is over\.")
    saved = Path((await host.expect(r"Record saved in (\S+)"))[1])
    await host.expect("Fair: ")
    await watcher.expect(r"The race is over\.")

    missing = await programs.output("verify", str(saved), code=1)
    assert re.search(r"no rules of the game 'house' here.*--games FILE", " ".join(missing.split()))
    assert "moves of ana" in await programs.output("verify", "--deep", "--games", str(HOUSE), str(saved))
    assert "ben" in await programs.output("replay", "--plain", "--games", str(HOUSE), str(saved))
    other = tmp_path / "house.toml"
    other.write_text(HOUSE.read_text().replace('"8 columns', '"Only 8 columns').replace("6 6 6 6", "5 7 6 6"))
    assert "other rules of the game 'house'" in await programs.output(
        "verify", "--games", str(other), str(saved), code=1
    )
    await asyncio.to_thread(urlretrieve, f"{url.replace('ws', 'http', 1)}/games.json", tmp_path / "games.json")
    games = json.loads((tmp_path / "games.json").read_text())
    assert games["house-small"]["title"] == "Small House"
    described = await asyncio.to_thread(urlopen, f"{url.replace('ws', 'http', 1)}/api/v1/games/house")
    assert json.loads(described.read()) == games["house"]
    (tmp_path / "other.json").write_text(json.dumps({"house": {**games["house"], "stock": "draws of one"}}))
    if NODE is not None:
        check = {name: verdicts([saved], *options)[saved.stem] for name, options in {
            "none": (),
            "other": ("--games", str(tmp_path / "other.json")),
            "deep": ("--games", str(tmp_path / "games.json"), "--deep"),
        }.items()}  # fmt: skip
        assert all("'house'. Save the games.json" in check[name] for name in ("none", "other"))
        assert check["deep"].startswith("holds: "), check
