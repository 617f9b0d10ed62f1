"""The workflows in ``.github/``: what they build is what ``deploy/`` describes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.dockerfile import FILE, ROOT, steps

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
RELEASE = ROOT / ".github" / "workflows" / "release.yml"


def jobs(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(path.read_text())
    return dict(loaded["jobs"])


def inputs_of(job: dict[str, Any], action: str) -> dict[str, Any]:
    """Return the inputs of the step of a job that uses an action."""
    (step,) = [step for step in job["steps"] if step.get("uses", "").startswith(f"{action}@")]
    return dict(step["with"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_reads_only_unless_a_job_says_so(path: Path) -> None:
    assert yaml.safe_load(path.read_text())["permissions"] == {"contents": "read"}
    for job in jobs(path).values():
        assert job["timeout-minutes"]
        for step in job["steps"]:
            assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"]) if "uses" in step else step["run"]


def test_release_image_has_two_architectures_and_an_sbom() -> None:
    given = inputs_of(jobs(RELEASE)["image"], "docker/build-push-action")
    assert ROOT / given["file"] == FILE
    assert set(given["platforms"].split(",")) == {"linux/amd64", "linux/arm64"}
    assert given["sbom"] is True
    names = {step.rest.partition("=")[0] for step in steps(FILE.read_text()) if step.word == "ARG"}
    assert {line.partition("=")[0] for line in given["build-args"].splitlines()} == names


def test_release_has_the_packages_and_their_sbom() -> None:
    package, release = jobs(RELEASE)["package"], jobs(RELEASE)["release"]
    (listing,) = [step["run"] for step in package["steps"] if step.get("name") == "SBOM"]
    sources = [word for word in listing.split() if word.startswith("deploy/") or word == "pyproject.toml"]
    assert all((ROOT / source).exists() for source in sources)
    assert "deploy/requirements.txt" in sources
    assert set(release["needs"]) == {"package", "image"}
    assert (
        inputs_of(package, "actions/upload-artifact")["name"] == inputs_of(release, "actions/download-artifact")["name"]
    )
