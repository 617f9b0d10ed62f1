"""Golden files: texts kept in this directory, to be read by eye whenever they change."""

from __future__ import annotations

import os
import re
from collections import ChainMap
from collections.abc import Awaitable, Callable, Iterator, Mapping
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pytest

HERE = Path(__file__).parent
SENTENCES = "sentences.txt"
_SHOWN: Final = 12
"""Maximum number of lines that a failure shows of the differences."""


def assert_golden(name: str, text: str) -> None:
    """Compare a text with the golden file of a name. With ``REGENERATE=1`` in the environment, write the file instead."""
    path = HERE / name
    if os.environ.get("REGENERATE"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    _assert_kept(name, kept, text)


def _assert_kept(name: str, kept: str, text: str) -> None:
    """Fail with the first lines that differ from what is kept, and how to write it again."""
    if kept != text:
        differences = unified_diff(kept.splitlines(), text.splitlines(), name, "now", n=1, lineterm="")
        test, _, _ = os.environ.get("PYTEST_CURRENT_TEST", "the test").partition("::")
        again = f"If the change is right, run: REGENERATE=1 .venv/bin/pytest -n 0 {test}"
        pytest.fail("\n".join([*islice(differences, _SHOWN), again]), pytrace=False)


def golden_text(name: str, of_new_game: Callable[[], str]) -> str:
    """Return the golden file of a name. With ``REGENERATE=1``, write it for a new game, which does not have it yet."""
    path = HERE / name
    if os.environ.get("REGENERATE") and not path.exists():
        path.write_text(of_new_game(), encoding="utf-8")
    return path.read_text(encoding="utf-8")


def assert_answers(name: str, answer: Callable[[str, str], str]) -> None:
    """Compare the answers on a page of ``answers`` with those that the program gives to a heading and a question.

    A line with an arrow is a question and its answer. New questions get theirs with ``REGENERATE=1``.
    """
    _assert_given(name, [answer(*asked) for asked in asked_on(name)])


async def assert_answered(name: str, answer: Callable[[str, str], Awaitable[str]]) -> None:
    """Compare the answers on a page as ``assert_answers`` does, with those that a running program gives."""
    _assert_given(name, [await answer(*asked) for asked in asked_on(name)])


def _assert_given(name: str, answers: list[str]) -> None:
    given = iter(answers)
    lines = []
    for line in _page(name):
        question, arrow, _ = line.partition(" =>")
        lines.append(f"{question} => {next(given)}".rstrip() if arrow else line)
    assert_golden(f"answers/{name}.txt", "\n".join(lines) + "\n")


def asked_on(name: str) -> Iterator[tuple[str, str]]:
    """The questions on a page of ``answers``, each with the heading above it."""
    heading = ""
    for line in _page(name):
        heading = line.removeprefix("# ") if line.startswith("# ") else heading
        question, arrow, _ = line.partition(" =>")
        if arrow:
            yield heading, question


def questions(name: str) -> list[str]:
    """The questions on a page of ``answers``."""
    return [question for _, question in asked_on(name)]


def values_on(name: str, *known: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the Python expressions on a page of ``answers``, by their lines, which begin with a name for each."""
    names = {"re": re, **ChainMap(*map(dict, known))}
    return {question: eval(question.partition(": ")[2], names) for question in dict.fromkeys(questions(name))}


def _page(name: str) -> list[str]:
    return (HERE / f"answers/{name}.txt").read_text(encoding="utf-8").splitlines()


def assert_sentences(section: str, lines: list[str]) -> None:
    """Compare what people are told with a section of ``sentences.txt``, which has the wording of single sentences.

    Each line is a code or a case, a tab, and the sentence. ``REGENERATE=1`` writes the section instead; run those tests
    without parallel workers.
    """
    path = HERE / SENTENCES
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    sections = dict(re.findall(r"^== ([^\n]+) ==\n(.*?)(?=^== |\Z)", kept, re.MULTILINE | re.DOTALL))
    text = "".join(f"{line}\n" for line in lines)
    if os.environ.get("REGENERATE"):
        sections[section] = text + "\n"
        path.write_text("".join(f"== {name} ==\n{sections[name]}" for name in sorted(sections)), encoding="utf-8")
        return
    _assert_kept(f"{SENTENCES}, {section}", sections.get(section, "").rstrip("\n"), text.rstrip("\n"))
