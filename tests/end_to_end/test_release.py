"""Releases, made in a repository of their own. Steps that need the package index are skipped."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from tests.end_to_end.releases import copy_sources

NEWS = "# Changelog\n\n## Unreleased\n\n- Fog.\n\n## 0.0.1 (2026-01-01)\n\n- Rain.\n"
QUICKLY = ("--skip", "tests", "--skip", "metadata", "--skip", "install")


class Repository:
    """A repository with the packages of this tree at version 0.1.0, and a changelog."""

    def __init__(self, home: Path) -> None:
        self.home = home
        copy_sources(
            home, "shared", "server", "client", "deploy", ".ci", "pyproject.toml", "README.md", "LICENSE", ".gitignore"
        )
        self.write("CHANGELOG.md", NEWS)
        module = (home / "shared/samedeal/__init__.py").read_text()
        self.write("shared/samedeal/__init__.py", re.sub(r'(__version__ = )".+"', r'\1"0.1.0"', module))
        self.git("init", "--quiet", "--initial-branch", "main")
        for name, value in (("user.name", "ana"), ("user.email", "ana@example.org"), ("commit.gpgsign", "false")):
            self.git("config", name, value)
        self.commit()

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.home, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def write(self, name: str, text: str) -> None:
        (self.home / name).write_text(text)

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "As it is", "--allow-empty")

    def release(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, ".ci/release.py", *arguments]
        return subprocess.run(command, cwd=self.home, capture_output=True, text=True, check=False)

    def refuses(self, sentence: str, version: str = "0.2.0") -> None:
        """Check that a release is refused with a sentence, and that nothing has changed."""
        head, status = self.git("rev-parse", "HEAD"), self.git("status", "--porcelain")
        done = self.release(version, *QUICKLY)
        assert done.returncode == 1, done.stderr
        assert sentence in done.stderr.partition("release: ")[2], done.stderr
        assert (self.git("rev-parse", "HEAD"), self.git("status", "--porcelain")) == (head, status)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def test_release_is_built_committed_and_tagged(repository: Repository) -> None:
    done = repository.release("0.2.0", *QUICKLY)
    assert done.returncode == 0, done.stdout + done.stderr
    assert repository.git("describe", "--exact-match") == "v0.2.0"
    assert repository.git("log", "-1", "--format=%s") == "release: set version 0.2.0"
    assert repository.git("status", "--porcelain") == ""
    naming = [
        f"deploy/{name}" for name in ("README.md", "compose.one.yaml", "compose.yaml", "kubernetes/kustomization.yaml")
    ]
    changed = ["CHANGELOG.md", *naming, "shared/samedeal/__init__.py"]
    assert repository.git("diff", "--name-only", "HEAD~1").split() == changed
    assert "samedeal:0.1.0" not in (repository.home / "deploy/compose.yaml").read_text()
    news = (repository.home / "CHANGELOG.md").read_text()
    day = datetime.now(UTC).date()
    assert news in [
        NEWS.replace("## Unreleased\n", f"## Unreleased\n\n## 0.2.0 ({date})\n") for date in (day, day - timedelta(1))
    ]
    names = sorted(path.name for path in (repository.home / "dist").iterdir())
    assert names == ["SHA256SUMS", "samedeal-0.2.0-py3-none-any.whl", "samedeal-0.2.0.tar.gz"]
    for line in (repository.home / "dist" / names.pop(0)).read_text().splitlines():
        digest, name = line.split("  ")
        assert sha256((repository.home / "dist" / name).read_bytes()).hexdigest() == digest
    wheel = zipfile.ZipFile(repository.home / "dist" / names[0])
    assert b'__version__ = "0.2.0"' in wheel.read("samedeal/__init__.py")
    assert "git push --atomic origin main v0.2.0" in done.stdout
    repository.refuses("CHANGELOG.md has no entry under '## Unreleased'", "0.3.0")
    repository.refuses("The tag v0.2.0 exists already")


def test_dry_run_shows_changes_and_makes_none(repository: Repository) -> None:
    before = repository.git("rev-parse", "HEAD")
    done = repository.release("0.2.0", "--dry")
    assert done.returncode == 0, done.stderr
    assert '+__version__ = "0.2.0"' in done.stdout
    assert "+## 0.2.0 (" in done.stdout
    assert (repository.git("rev-parse", "HEAD"), repository.git("status", "--porcelain")) == (before, "")
    assert repository.git("tag") == ""
    assert not (repository.home / "dist").exists()


def test_invalid_version_is_refused(repository: Repository) -> None:
    repository.git("tag", "v0.1.0")
    for version, sentence in (
        ("0.0.9", "0.0.9 is not newer than 0.1.0"),
        ("v0.2.0", "v0.2.0 is not a release version. Write it as in VERSION=0.2.0"),
    ):
        repository.refuses(sentence, version)


def test_unclean_tree_is_refused(repository: Repository) -> None:
    repository.write("note", "")
    repository.refuses("The tree has uncommitted changes. Commit or remove them first:\n?? note")
    (repository.home / "note").unlink()
    repository.git("switch", "--quiet", "--create", "fog")
    repository.refuses("Releases are made from main, and this is fog. Run: git switch main")
    repository.git("switch", "--quiet", "main")
    repository.write("CHANGELOG.md", "# Changelog\n\n## 0.0.1 (2026-01-01)\n\n- Rain.\n")
    repository.commit()
    repository.refuses("CHANGELOG.md has no section '## Unreleased'. Add it and describe what is new")


def test_failed_step_leaves_the_tree_unchanged(repository: Repository) -> None:
    (repository.home / "README.md").unlink()
    repository.commit()
    repository.refuses("ended with exit code 1.")
    assert not (repository.home / "dist").exists()
