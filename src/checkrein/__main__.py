"""The `checkrein` program. Looks at argv before anything heavy is imported."""

import sys


def main(given: list[str] | None = None) -> int:
    argv = sys.argv[1:] if given is None else given
    if argv == ["-v"]:  # programs for Claude Code ask so, and compare the number
        from checkrein import __version__
        from checkrein.facts.claude import COMPATIBLE_VERSION

        sys.stdout.write(f"{COMPATIBLE_VERSION} (Checkrein {__version__})\n")
        return 0
    if argv in (["--version"], ["-V"]):
        from checkrein import __version__

        sys.stdout.write(f"checkrein {__version__}\n")
        return 0
    if not argv and _at_terminal():
        from checkrein.cli.screen.entrance import enter

        return enter()
    if argv and (argv[0] == "run" or (argv[0].startswith("-") and argv[0] not in ("-h", "--help"))):
        import _signal  # type: ignore[import-not-found]  # built in, so nothing runs before the block

        if hasattr(_signal, "pthread_sigmask"):  # signals wait until the run has its handlers
            _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP))
        import gc

        gc.disable()  # imports leave no garbage; the first request enables it again
        from checkrein.cli.first_moment import guarded

        return guarded(argv)
    from checkrein.cli.main import run

    return run(argv)


def _at_terminal() -> bool:
    """Whether somebody sits there who can type and read."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


if __name__ == "__main__":
    sys.exit(main())
