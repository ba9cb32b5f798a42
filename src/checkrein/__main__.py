"""The `checkrein` program. Looks at argv before anything heavy is imported."""

import sys


def main() -> int:
    argv = sys.argv[1:]
    if argv in (["--version"], ["-V"]):
        from checkrein import __version__

        sys.stdout.write(f"checkrein {__version__}\n")
        return 0
    if argv and (argv[0] == "run" or (argv[0].startswith("-") and argv[0] not in ("-h", "--help"))):
        import _signal  # built in: it costs nothing

        if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
            _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # until the run has a handler: no traceback
        from checkrein.cli.first_moment import guarded

        return guarded(argv)
    from checkrein.cli.main import run

    return run(argv)


if __name__ == "__main__":
    sys.exit(main())
