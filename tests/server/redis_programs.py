"""Programs that stand in for a redis-server."""

from __future__ import annotations

from pathlib import Path


def write_program(path: Path, script: str) -> Path:
    """Write a shell script as an executable program, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def write_redis(path: Path, script: str, version: str = "7.0.0") -> Path:
    """Write a program that reports a version of Redis, and otherwise runs a shell script."""
    return write_program(path, f"if [ $1 = --version ]; then echo Redis server v={version}; exit; fi\n{script}")
