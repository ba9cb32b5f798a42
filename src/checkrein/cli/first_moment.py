"""A run from its first moment: a signal before the session exists has a result too."""

from __future__ import annotations

from collections.abc import Sequence

from checkrein.protocol.signals import Stopped, catch, ignore


def guarded(argv: Sequence[str]) -> int:
    """Run the command. Its process does nothing else."""
    try:
        catch()
        from checkrein.cli.main import run

        return run(argv)
    except Stopped as stop:
        ignore()
        _refuse(str(stop), argv)
        return stop.status
    finally:
        ignore()


def _refuse(reason: str, argv: Sequence[str]) -> None:
    from checkrein.cli.run_output import warn

    if "--json" in argv or _value("--output-format", argv) in ("json", "stream-json"):
        from checkrein.protocol.run import refuse

        refuse(reason, _value("--session-id", argv))
    warn(reason)


def _value(flag: str, argv: Sequence[str]) -> str | None:
    for index, word in enumerate(argv):
        if word == flag and index + 1 < len(argv):
            return argv[index + 1]
        if word.startswith(f"{flag}="):
            return word.partition("=")[2]
    return None
