"""Completion of command lines in real shells. Shells that are not installed are skipped."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from samedeal.games import GAMES
from samedeal_client.cli import COMMANDS
from tests.client.command_line import run_samedeal

LINES = [
    ("samedeal ", set(COMMANDS)),
    ("samedeal pl", {"play"}),
    ("samedeal rules ", set(GAMES)),
    ("samedeal play ", set(GAMES)),
    ("samedeal play willow --li", {"--limit"}),
    ("samedeal play willow --level ca", {"careful"}),
    ("samedeal bot localhost friday --level ", {"random", "greedy", "careful"}),
    ("samedeal new localhost --game w", {"willow"}),
    ("samedeal admin localhost b", {"ban", "bans", "backup"}),
    ("samedeal completion ", {"bash", "zsh", "fish"}),
    ("samedeal replay --cast pyproj", {"pyproject.toml"}),
]

BASH = """
eval "$1"
for line in "${@:2}"; do
    read -ra COMP_WORDS <<< "$line"
    [[ $line == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE="$line" COMP_POINT=${#line} COMPREPLY=()
    function=$(complete -p "${COMP_WORDS[0]}" | sed -E 's/.* -F ([^ ]+) .*/\\1/')
    "$function" "${COMP_WORDS[0]}" "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
    echo "${COMPREPLY[@]}"
done
"""

FISH = "eval (string collect $argv[1]); complete --do-complete $argv[2]"


@cache
def script(shell: str) -> str:
    """Return the completion script for a shell."""
    return run_samedeal("completion", shell).stdout


def output_of(shell: str, *arguments: str) -> list[str]:
    """Run a shell and return its output lines."""
    done = subprocess.run(
        [shell, *arguments], capture_output=True, text=True, timeout=60, cwd=Path(__file__).parents[2], check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")


@needs("bash")
def test_bash_completes() -> None:
    found = output_of("bash", "--norc", "-c", BASH, "bash", script("bash"), *(line for line, _ in LINES))
    assert [(line, {*words.split()}) for (line, _), words in zip(LINES, found, strict=True)] == LINES


@needs("fish")
def test_fish_completes() -> None:
    for line, words in LINES:
        found = output_of("fish", "--no-config", "-c", FISH, script("fish"), line)
        assert {each.split("\t")[0] for each in found} == words


@needs("zsh")
def test_zsh_completes() -> None:
    code = 'autoload -Uz compinit; compinit -u -D; eval "$1"; print -r -- $_comps[samedeal]'
    assert output_of("zsh", "-f", "-c", code, "zsh", script("zsh")) == ["_shtab_samedeal"]
