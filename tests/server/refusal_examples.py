"""What the functions that make refusals and notices return for example arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType
from typing import Any


def examples(module: ModuleType, words: Mapping[str, object]) -> list[Any]:
    """Call each function of a module that returns a refusal or a notice, with the words for its parameters."""
    makers = [
        each
        for name, each in vars(module).items()
        if not name.startswith(("_", "to_"))
        and (isinstance(each, partial) or (inspect.isfunction(each) and each.__module__ == module.__name__))
    ]
    return [each() if isinstance(each, partial) else each(**_words_for(each, words)) for each in makers]


def _words_for(maker: Callable[..., Any], words: Mapping[str, object]) -> dict[str, object]:
    parameters = inspect.signature(maker).parameters
    for name, of in parameters.items():
        assert name in words or of.default is not of.empty, f"Give the test an example word for {name!r} of {maker}."
    return {name: words[name] for name in parameters if name in words}
