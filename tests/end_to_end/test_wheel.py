"""The built distribution, installed where the source tree cannot hide a missing file.

Each environment here has only the wheel and the dependencies in the wheel's own metadata, so that a file, a package
or a requirement that is not in it is missed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from samedeal_server.embedded_redis import binary

pytestmark = pytest.mark.xdist_group("wheel")  # so that it is built once

ROOT = Path(__file__).parents[2]
CLIENT = ("samedeal_link", "samedeal_client", "samedeal_bots", "samedeal_door", "samedeal_operate")
SOURCES = {"samedeal": ROOT / "shared", "samedeal_server": ROOT / "server", **dict.fromkeys(CLIENT, ROOT / "client")}


@dataclass(frozen=True)
class Environment:
    """A virtual environment with the wheel."""

    home: Path

    @property
    def packages(self) -> Path:
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return self.home / "lib" / version / "site-packages"

    def run(self, command: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the environment, outside the source tree and without variables that point to it."""
        return subprocess.run(
            [self.home / "bin" / command, *arguments],
            cwd=self.home,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.home), "PYTHONWARNINGS": "error", **variables},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def python(self, code: str) -> subprocess.CompletedProcess[str]:
        return self.run("python", "-c", code)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the source distribution and of the wheel built from it."""
    to = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", to, ROOT],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return to


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def whole(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the wheel and its dependencies, linked from the running one."""
    home = tmp_path_factory.mktemp("whole")
    venv.create(home, with_pip=False, symlinks=True)
    environment = Environment(home)
    pip = (sys.executable, "-m", "pip", "--python", home / "bin" / "python")
    install = (*pip, "install", "--no-deps", "--no-index", "--no-compile", wheel)
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (metadata,) = environment.packages.glob("samedeal-*.dist-info")
    for required in closure(Distribution.at(metadata)):
        for name in sorted({file.parts[0] for file in required.files or ()} - {"..", "__pycache__"}):
            (environment.packages / name).symlink_to(Path(str(required.locate_file(name))))
    return environment


def closure(root: Distribution) -> Iterator[Distribution]:
    """Yield the dependencies of a distribution, recursively."""
    seen = set[str]()
    waiting = [(root, {""})]
    while waiting:
        wanting, wanted = waiting.pop()
        for text in wanting.requires or ():
            requirement = Requirement(text)
            if requirement.marker and not any(requirement.marker.evaluate({"extra": extra}) for extra in wanted):
                continue
            found = distribution(requirement.name)
            if found.name not in seen:
                seen.add(found.name)
                yield found
            waiting.append((found, {"", *requirement.extras}))


def test_wheel_has_every_file_of_the_packages(wheel: Path) -> None:
    sources = {
        path.relative_to(root).as_posix()
        for package, root in SOURCES.items()
        for path in (root / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name} == sources


def test_source_distribution_has_files_for_tests(built: Path) -> None:
    (found,) = built.glob("*.tar.gz")
    with tarfile.open(found) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    assert {"Makefile", "README.md", "LICENSE", "pyproject.toml", "tests/end_to_end/test_wheel.py"} <= names


def test_tree_and_source_distribution_build_same_wheel(wheel: Path, tmp_path: Path) -> None:
    build = (sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", tmp_path)
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_every_module_imports_from_the_wheel(whole: Environment) -> None:
    """All but those of the door, which need asyncssh."""
    done = whole.python(
        "import importlib, pkgutil, pathlib\n"
        f"for package in map(importlib.import_module, {[*SOURCES]}):\n"
        f"    assert pathlib.Path(package.__file__).is_relative_to({str(whole.home)!r}), package.__file__\n"
        "    for module in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "        if not module.name.endswith('__main__') and not module.name.startswith('samedeal_door.'):\n"
        "            importlib.import_module(module.name)\n"
    )
    assert done.returncode == 0, done.stderr


def test_wheel_alone_finishes_a_race(whole: Environment) -> None:
    """Bots race on a server that the command starts, as when a release is tried."""
    redis = {binary.BINARY_VARIABLE: str(binary.find_redis_binary().path)}
    done = whole.run("samedeal", "play", "willow", "--limit", "12s", **redis)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\d\d:\d\d  (\w+ \(\w+\) \d+/52 in [1-9]\d* moves?(, )?){4}", done.stdout, re.MULTILINE), (
        done.stdout
    )
    standings = done.stdout.partition("The race is over.")[2]
    assert len(re.findall(r"^\d\w\w: \w+ \(bot\)", standings, re.MULTILINE)) == 4, done.stdout
    assert "Checked: " in standings


def test_image_requirements_match_server_and_door() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    required = project["optional-dependencies"]["ssh"] + project["dependencies"]
    lines = (ROOT / "deploy" / "requirements.in").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#")] == required
