"""`checkrein compile --smoke PYTHON`: run the tests of a package with the interpreter it is meant for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from checkrein.base.errors import CheckreinError
from checkrein.runtime.process.command import Command, Completed

_LIMIT = 600
# Prints a word and the modules that are missing. It does not import the library: that takes seconds.
_PROBE = (
    "import sys, importlib.util as found; "
    "print('without', *(name for name in sys.argv[1:] if found.find_spec(name) is None))"
)


def smoke(root: str, python: str, needs: Mapping[str, str]) -> str:
    """Return the last line that the tests print. `needs` maps modules to what installs them.

    Raises CheckreinError: `smoke_unavailable` when the interpreter can't run the tests, which says
    nothing about the package; `smoke_failed` when they fail.
    """
    program = os.path.abspath(python) if os.sep in python else shutil.which(python)
    if program is None:
        raise _unavailable(f"There is no program {python!r}.", "Name a Python interpreter.")
    needs = {**needs, "pytest": "pytest>=8"}
    probed = _run((program, "-c", _PROBE, *needs), root)
    word, *missing = probed.stdout.decode("utf-8", "replace").split() or [""]
    if probed.exit_code != 0 or word != "without":
        said = (probed.stderr or probed.stdout).decode("utf-8", "replace").strip()
        raise _unavailable(
            f"{python} does not run Python. {said[-300:]}".strip(), "Name Python 3.11 or newer."
        )
    if missing:
        wanted = " ".join(f"'{needs[name]}'" for name in missing if name in needs)
        raise _unavailable(
            f"{python} has no {', '.join(missing)}; the tests did not run.",
            f"Install: {python} -m pip install {wanted}.",
        )
    done = _run((program, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"), root)
    said = done.stdout.decode("utf-8", "replace").strip()
    if done.timed_out or done.exit_code != 0 or not said:
        what = f"take more than {_LIMIT} s" if done.timed_out else "fail"
        raise CheckreinError(
            f"The package's tests {what}: {said[-600:]}", kind="smoke_failed", hint="The package was written."
        )
    return said.splitlines()[-1]


def _run(argv: tuple[str, ...], root: str) -> Completed:
    from checkrein.base.origin import COMMAND_LINE, Origin
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.process.spawner import Spawner

    wanted = Command(
        argv=argv,
        cwd=os.path.realpath(root),
        origin=Origin(COMMAND_LINE, "cli"),
        purpose="smoke test of a compiled package",
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        timeout=_LIMIT,
        merge_stderr=True,
    )
    with Spawner(lambda origin: True) as spawner:
        return spawner.run(wanted, Cancel())


def _unavailable(message: str, hint: str) -> CheckreinError:
    return CheckreinError(message, kind="smoke_unavailable", hint=f"{hint} The package was written.")
