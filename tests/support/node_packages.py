"""Packages of npm that tests need: installed once, outside the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from checkrein.base.files import locked


def node_modules(name: str, packages: tuple[str, ...], present: tuple[str, ...], *flags: str) -> Path:
    """The `node_modules` with these packages. The test is skipped where node, npm or their registry is
    missing. `present` are paths that show that they are there."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("node and npm are not installed.")
    place = Path(tempfile.gettempdir()) / f"checkrein-{name}-{os.getuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    assert place.stat().st_uid == os.getuid()
    modules = place / "node_modules"
    with locked(place / "install.lock"):
        if not all((modules / path).exists() for path in present):
            words = (npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(place))
            done = subprocess.run(
                (*words, *flags, *packages), capture_output=True, text=True, check=False, timeout=110
            )
            if done.returncode != 0:
                pytest.skip(f"npm can't install {', '.join(packages)}: {done.stderr.strip()[-200:]}")
    return modules
