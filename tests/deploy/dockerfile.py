"""Execute the Dockerfile in plain directories, for machines without a container engine.

Run as root, with a Debian made by debootstrap, including Python, instead of the base image::

    debootstrap --variant=minbase --include=ca-certificates,python-is-python3,python3-pip,python3-venv trixie BASE
    python -m tests.deploy.dockerfile BASE RESULT

RESULT is then the root of the image. This does not test the base image, layers, VOLUME, EXPOSE and HEALTHCHECK.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
FILE: Final = ROOT / "deploy" / "Dockerfile"


@dataclass(frozen=True)
class Step:
    """An instruction and its arguments as text."""

    word: str
    rest: str

    @property
    def words(self) -> list[str]:
        """The arguments as words, also if they are written as a JSON list."""
        return list(json.loads(self.rest)) if self.rest.startswith("[") else self.rest.split()

    @property
    def sources(self) -> list[str]:
        """Sources that a COPY takes from the build context. Empty if it copies from another stage."""
        return [] if self.words[0].startswith("--from=") else self.words[:-1]


@dataclass
class Stage:
    """A stage during execution: its root directory, working directory and environment."""

    root: Path
    place: str = "/"
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": os.defpath + ":/usr/sbin:/sbin"})


def steps(text: str) -> Iterator[Step]:
    """Yield the instructions of a Dockerfile, without comments, with continued lines joined."""
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for line in lines.replace("\\\n", " ").splitlines():
        if line.strip():
            word, _, rest = line.strip().partition(" ")
            yield Step(word.upper(), re.sub(r"\s+", " ", rest.strip()))


def build(base: Path, result: Path) -> None:
    """Execute the Dockerfile. Raise CalledProcessError for the first step that fails."""
    stages: dict[str, Stage] = {}
    stage = Stage(base)
    with tempfile.TemporaryDirectory(prefix="dockerfile-") as scratch:
        for step in steps(FILE.read_text()):
            print(step.word, step.rest, flush=True)
            match step.word:
                case "FROM":
                    name = step.words[-1] if "AS" in step.words else ""
                    stage = stages[name] = Stage(Path(scratch, name) if name else result)
                    subprocess.run(("cp", "--archive", "--reflink=auto", base, stage.root), check=True)
                case "ENV":
                    for name, value in re.findall(r"(\w+)=(\S+)", step.rest):
                        stage.environment[name] = value.replace("$PATH", stage.environment["PATH"])
                case "WORKDIR":
                    stage.place = step.rest
                    _within(stage, step.rest).mkdir(parents=True)
                case "COPY":
                    _copy(stage, step, stages)
                case "RUN":
                    _run(stage, step.rest)
                case _:
                    pass


def _within(stage: Stage, path: str) -> Path:
    return stage.root / str(Path(stage.place, path)).lstrip("/")


def _copy(stage: Stage, step: Step, stages: Mapping[str, Stage]) -> None:
    words = step.words
    target = _within(stage, words[-1])
    if not step.sources:
        source = _within(stages[words[0].removeprefix("--from=")], words[1])
        shutil.copytree(source, target, symlinks=True)
        return
    for name in step.sources:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, target)


def _run(stage: Stage, command: str) -> None:
    inner = f"cd {stage.place} && {command}"
    passed = {name: value for name, value in os.environ.items() if name in ("PIP_CERT", "PIP_DEFAULT_TIMEOUT")}
    own = ("unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={stage.root}/proc")
    subprocess.run(
        (*own, "chroot", stage.root, "/bin/sh", "-c", inner),
        env={"HOME": "/root", "DEBIAN_FRONTEND": "noninteractive", **passed, **stage.environment},
        check=True,
    )


if __name__ == "__main__":
    build(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute())
