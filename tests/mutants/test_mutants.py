"""The list of mutants fits the source. ``make mutants`` makes the mistakes and runs the tests that must notice them."""

from __future__ import annotations

import ast

import pytest

from tests.mutants.mutants import ROOT, Inapplicable, Mutant, load_mutants


def test_mutants_apply_and_their_tests_exist() -> None:
    """After an edit of a mutated line, the list has to follow."""
    for mutant in load_mutants():
        source = (ROOT / mutant.file).read_text(encoding="utf-8")
        mutated = mutant.mutate(source)
        assert mutated != source, mutant
        if mutant.file.endswith(".py"):
            ast.parse(mutated)
        assert mutant.tests, mutant
        assert [tests for tests in mutant.tests if not (ROOT / tests).is_file()] == [], mutant


def test_mutant_of_another_source_is_inapplicable() -> None:
    mutant = Mutant(1, "x is lost", "x.py", "x = 1\n", "", ())
    assert mutant.mutate("x = 1\ny = 2\n") == "y = 2\n"
    for source in ("y = 2\n", "x = 1\nx = 1\n"):
        with pytest.raises(Inapplicable):
            mutant.mutate(source)
