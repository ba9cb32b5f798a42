"""Programs of this machine, run to learn whether and how they work. They belong to no session."""

from __future__ import annotations

import os

from checkrein.facts.models_providers import CREDENTIALS
from checkrein.runtime.process.environment import without


def probe(argv: tuple[str, ...], timeout: float = 5.0) -> bytes | None:
    """The output of a program of this machine, to learn whether and how it works; None when it fails.

    For the sandbox and for `checkrein doctor`: never for anything that a project names."""
    import subprocess

    try:
        done = subprocess.run(  # noqa: S603  only names that are in our own code come here
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=timeout,
            cwd="/",
            env=without(os.environ, CREDENTIALS),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
