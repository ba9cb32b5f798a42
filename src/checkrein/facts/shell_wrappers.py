"""Commands that run another command, and how to find that command in their arguments.

Deny and ask rules for the inner command hold through every wrapper. An allow rule sees only through the
`transparent` ones. Keys of two words (`docker exec`) are a command and its subcommand.
"""

from __future__ import annotations

from msgspec import Struct, structs

from checkrein.facts.shell_words import names, words


class Wrapper(Struct, frozen=True, kw_only=True):
    """`values` and `long` are the options that take a value; `operands` counts the words before the command.

    `text`: a shell gets the remaining words, joined. `strings` are options whose value goes
    to a shell. `after` are words that the command follows (`--`), at any position.
    """

    values: str = ""
    long: tuple[str, ...] = ()
    operands: int = 0
    assigns: bool = False
    transparent: bool = False
    read_only: bool = False
    """The table of read-only commands also sees through it."""
    bare: bool = False
    """Transparent only without options."""
    appends: bool = False
    """Adds unknown words."""
    text: bool = False
    strings: tuple[str, ...] = ()
    query: str = ""
    """Options that only ask about the command."""
    after: tuple[str, ...] = ()
    suffixes: bool = False
    """Its options are unknown: the command may start at any word."""
    separators: tuple[str, ...] = ()
    """Words that end the inner command."""
    prefixable: bool = True
    """A rule `name *` may allow it."""
    alone: bool = False
    """Without a command it starts a shell, which reads its input."""
    shell_words: bool = False
    """The remaining words are those of a shell: `capsh -- -c TEXT`."""
    piped: bool = False
    """The inner command reads from a pipe."""
    same_shell: bool = False
    """Runs builtins in the shell itself, which changes its state."""
    looks_up: bool = False
    """Runs functions of the shell too."""
    permutes: bool = False
    """Reads its own options behind the operands too."""


_RUN = Wrapper(
    values="aceghlmpuvw",
    long=names(
        "name env volume user workdir network entrypoint mount publish env-file platform memory cpus pid"
        " ipc uts"
        " userns cgroupns cgroup-parent cap-add cap-drop security-opt shm-size gpus device add-host dns"
        " expose"
        " hostname ip label label-file link log-driver log-opt mac-address memory-swap net network-alias"
        " oom-score-adj pids-limit pull restart runtime stop-signal stop-timeout storage-opt sysctl tmpfs"
        " ulimit"
        " volume-driver volumes-from attach blkio-weight cidfile cpu-shares cpuset-cpus cpuset-mems"
        " cpu-period"
        " cpu-quota detach-keys domainname group-add health-cmd health-interval health-retries health-timeout"
        " isolation kernel-memory"
    ),
    operands=1,
)
"""Options for starting a container."""

WRAPPERS: dict[str, Wrapper] = {
    **dict.fromkeys(
        names(
            "caffeinate ccache distcc sccache bear tini dumb-init catatonit nocache fakechroot fakeroot-ng"
            " winpty"
            " tsocks linux32 i386 retry trickle chronic heaptrack ddd scan-build intercept-build minijail0"
            " lima wsl"
            " kitty abduco dtach flatpak-spawn env-cmd cross-env dotenv onchange pipx uvx volta"
        ),
        Wrapper(suffixes=True),
    ),
    "cross-env-shell": Wrapper(assigns=True, text=True),
    **dict.fromkeys(
        (
            "watchexec",
            "reflex",
            "tox exec",
            "infisical run",
        ),
        Wrapper(suffixes=True),
    ),
    "capsh": Wrapper(after=names("-- =="), shell_words=True),
    "cpulimit": Wrapper(values="lpeP", suffixes=True),
    "timeout": Wrapper(values="ks", long=names("kill-after signal"), operands=1, transparent=True),
    "time": Wrapper(values="fo", long=names("format output"), transparent=True, looks_up=True),
    "nice": Wrapper(values="n", long=names("adjustment"), transparent=True),
    "nohup": Wrapper(transparent=True),
    "stdbuf": Wrapper(values="ioe", long=names("input output error"), transparent=True),
    "command": Wrapper(transparent=True, read_only=True, query="vV", same_shell=True),
    "builtin": Wrapper(transparent=True, read_only=True, same_shell=True),
    "noglob": Wrapper(transparent=True),
    "xargs": Wrapper(
        values="aEILnPsd",
        long=names("arg-file max-args max-procs max-chars delimiter process-slot-var"),
        transparent=True,
        read_only=True,
        bare=True,
        appends=True,
    ),
    "env": Wrapper(values="uC", long=names("unset chdir"), assigns=True, strings=names("S split-string")),
    "exec": Wrapper(values="a"),
    "sudo": Wrapper(
        alone=True,
        values="ugpCDhrtTUR",
        long=names("user group prompt close-from chdir host role type command-timeout other-user chroot"),
        assigns=True,
    ),
    "doas": Wrapper(alone=True, values="uC"),
    "pkexec": Wrapper(long=names("user")),
    "run0": Wrapper(values="uDg", long=names("user chdir group unit property setenv"), assigns=True),
    "gosu": Wrapper(operands=1),
    "su-exec": Wrapper(operands=1),
    "su": Wrapper(
        alone=True,
        values="sgGw",
        long=names("shell group supp-group"),
        operands=1,
        strings=names("c command session-command"),
        permutes=True,
    ),
    "runuser": Wrapper(
        alone=True,
        values="ugGs",
        long=names("user group shell"),
        strings=names("c command session-command"),
        permutes=True,
    ),
    "sg": Wrapper(alone=True, operands=1, text=True, strings=names("c"), permutes=True),
    "watch": Wrapper(values="nq", long=names("interval equexit"), text=True, prefixable=False),
    "setsid": Wrapper(prefixable=False),
    "ionice": Wrapper(values="cnpPu", long=names("class classdata"), prefixable=False),
    "flock": Wrapper(
        values="wE",
        long=names("timeout wait conflict-exit-code"),
        operands=1,
        strings=names("c command"),
        prefixable=False,
    ),
    "chrt": Wrapper(values="TPD", operands=1),
    "taskset": Wrapper(operands=1),
    "chroot": Wrapper(alone=True, long=names("userspec groups"), operands=1),
    "nsenter": Wrapper(alone=True, values="tSGrwW", long=names("target setuid setgid")),
    "unshare": Wrapper(alone=True, values="SGRw", long=names("root wd setuid setgid propagation")),
    "setpriv": Wrapper(long=names("ruid euid rgid egid reuid regid groups inh-caps bounding-set")),
    "prlimit": Wrapper(),
    "numactl": Wrapper(values="iNCmplsofM"),
    "setarch": Wrapper(suffixes=True),
    "linux64": Wrapper(),
    "strace": Wrapper(values="aeIoOpPsSuXbE"),
    "ltrace": Wrapper(values="aAeFlnopsSuwx"),
    "valgrind": Wrapper(),
    "catchsegv": Wrapper(),
    "rlwrap": Wrapper(values="abcCDefghHijlmMnoOpPqrsStwz"),
    "unbuffer": Wrapper(),
    "ifne": Wrapper(),
    "eatmydata": Wrapper(),
    "fakeroot": Wrapper(values="lisbf"),
    "faketime": Wrapper(values="f", operands=1),
    "proot": Wrapper(values="rbqwkS"),
    "firejail": Wrapper(),
    "bwrap": Wrapper(suffixes=True),
    "torsocks": Wrapper(),
    "torify": Wrapper(),
    "proxychains": Wrapper(values="f"),
    "proxychains4": Wrapper(values="f"),
    "dbus-run-session": Wrapper(),
    "dbus-launch": Wrapper(),
    "xvfb-run": Wrapper(values="efnpsw"),
    "systemd-run": Wrapper(
        values="upMHEtPd", long=names("unit property machine host setenv on-active on-calendar uid gid slice")
    ),
    "systemd-inhibit": Wrapper(long=names("what who why mode")),
    "cgexec": Wrapper(values="g"),
    "start-stop-daemon": Wrapper(after=names("--exec")),
    "coproc": Wrapper(piped=True, looks_up=True),
    "busybox": Wrapper(),
    "toybox": Wrapper(),
    "script": Wrapper(alone=True, values="IOBTEom", strings=names("c command"), operands=9),
    "scriptreplay": Wrapper(operands=9),
    "parallel": Wrapper(
        values="jaICSNnLPrsdk",
        long=names("jobs arg-file colsep delay joblog results sshlogin tmpdir workdir max-args"),
        appends=True,
        text=True,
        separators=names("::: :::: :::+ ::::+"),
    ),
    "sem": Wrapper(values="j", long=names("id jobs"), text=True),
    "entr": Wrapper(),
    "hyperfine": Wrapper(values="wmMrpscnLDEuz", long=names("warmup runs prepare setup cleanup"), text=True),
    "slogin": Wrapper(values="BbcDEeFIiJLlmOopQRSWw", operands=1, text=True, alone=True),
    "autossh": Wrapper(values="MBbcDEeFIiJLlmOopQRSWw", operands=1, text=True, alone=True),
    "ssh": Wrapper(alone=True, values="BbcDEeFIiJLlmOopQRSWw", operands=1, text=True),
    "mosh": Wrapper(operands=1),
    "sshpass": Wrapper(values="pfdP"),
    "ssh-agent": Wrapper(values="aEtP"),
    "vagrant ssh": Wrapper(strings=names("c command")),
    "ip netns": Wrapper(operands=2),
    "perf stat": Wrapper(values="eaCrxoI"),
    "perf record": Wrapper(values="eCcFop"),
    "git bisect": Wrapper(after=names("run")),
    "git submodule": Wrapper(after=names("foreach"), text=True),
    "git for-each-repo": Wrapper(after=names("--")),
    "docker exec": Wrapper(values="euw", long=names("env user workdir env-file detach-keys"), operands=1),
    **dict.fromkeys(
        ("docker run", "docker create", "podman run", "podman create", "nerdctl run", "nerdctl create"), _RUN
    ),
    **dict.fromkeys(
        ("docker container", "podman container", "nerdctl container"),
        structs.replace(_RUN, after=names("exec run create")),
    ),
    "docker compose": Wrapper(after=names("exec run"), values="euvwp", long=names("index"), operands=1),
    "docker-compose": Wrapper(after=names("exec run"), values="euvwp", long=names("index"), operands=1),
    "flatpak run": Wrapper(strings=names("command"), operands=1),
    "gdb": Wrapper(after=names("--args")),
    "lldb": Wrapper(after=names("--")),
    "podman exec": Wrapper(values="euw", long=names("env user workdir"), operands=1),
    "nerdctl exec": Wrapper(values="euw", long=names("env user workdir"), operands=1),
    "podman unshare": Wrapper(),
    "buildah run": Wrapper(operands=1),
    "buildah unshare": Wrapper(),
    **dict.fromkeys(
        ("kubectl exec", "kubectl run", "kubectl debug", "oc exec", "oc run"),
        Wrapper(after=names("--")),
    ),
    "oc rsh": Wrapper(operands=1),
    "multipass exec": Wrapper(operands=1),
    "limactl shell": Wrapper(operands=1),
    "distrobox enter": Wrapper(after=names("--")),
    "heroku run": Wrapper(values="a", long=names("app"), text=True),
    "npx": Wrapper(values="pc", long=names("package call"), strings=names("c call")),
    "bunx": Wrapper(),
    "pnpx": Wrapper(),
    "npm exec": Wrapper(values="pc", long=names("package call"), strings=names("c call")),
    "npm x": Wrapper(values="pc", long=names("package call"), strings=names("c call")),
    "pnpm exec": Wrapper(),
    "pnpm dlx": Wrapper(),
    "yarn exec": Wrapper(),
    "yarn dlx": Wrapper(),
    "bundle exec": Wrapper(),
    "uv run": Wrapper(long=names("with python package group extra env-file project directory")),
    "poetry run": Wrapper(),
    "pipenv run": Wrapper(),
    "pdm run": Wrapper(),
    "rye run": Wrapper(),
    "hatch run": Wrapper(),
    "pixi run": Wrapper(),
    "conda run": Wrapper(values="np", long=names("name prefix cwd")),
    "devbox run": Wrapper(),
    "mise exec": Wrapper(after=names("--")),
    "mise x": Wrapper(after=names("--")),
    "direnv exec": Wrapper(operands=1),
    "asdf exec": Wrapper(),
    "nix develop": Wrapper(strings=names("c command")),
    "nix shell": Wrapper(strings=names("c command")),
    "nix-shell": Wrapper(strings=names("run command")),
    "guix shell": Wrapper(after=names("--")),
    "screen": Wrapper(values="cehLpsStTX"),
    "xterm": Wrapper(after=names("-e")),
    "gnome-terminal": Wrapper(after=names("--")),
    "op run": Wrapper(after=names("--")),
    "doppler run": Wrapper(after=names("--")),
    "chpst": Wrapper(values="uUbe/nldmoofpcrt"),
    "softlimit": Wrapper(values="adcflmoprst"),
    "setuidgid": Wrapper(operands=1),
    "runcon": Wrapper(values="urtlc", operands=1),
    "newgrp": Wrapper(alone=True, operands=1, strings=names("c"), permutes=True),
    "nocorrect": Wrapper(),
    "ld.so": Wrapper(long=names("library-path preload audit argv0")),
    "ld-linux-x86-64.so.2": Wrapper(long=names("library-path preload audit argv0")),
    "ld-linux-aarch64.so.1": Wrapper(long=names("library-path preload audit argv0")),
    "ld-musl-x86_64.so.1": Wrapper(long=names("library-path preload argv0")),
}

SHELLS: frozenset[str] = words("sh bash dash ash ksh mksh zsh rbash yash posh")
"""Shells that take `-c TEXT`, a script, or commands from their input."""

FOREIGN_SHELLS: frozenset[str] = words("zsh fish csh tcsh nu elvish xonsh rc es")
"""Shells that read the text by their own rules; their commands need at least approval."""

SHELL_VALUE_OPTIONS = "oO"
SHELL_LONG: frozenset[str] = words(
    "rcfile init-file norc noprofile login posix restricted verbose version help debug debugger noediting"
    " dump-strings dump-po-strings wordexp protected"
)
"""Long options of bash, which it takes with one dash too."""
SHELL_LONG_VALUES: tuple[str, ...] = names("rcfile init-file")

OTHER_DIALECT = (
    r"&>|\$['\"]|(?<!\$)\(\(|\[\[|\w\+="
    r"|\b(?:function|coproc|select|source|let|declare|typeset|mapfile|readarray|shopt|time|builtin|enable|pushd|popd)\b"
    r"|\bprintf\s+-v|\bread\s+-[^r]|\bhash\s+-p"
)
"""What bash and other shells read in different ways, and both without an error."""

READS_COMMANDS: frozenset[str] = words("at batch crontab")
"""Programs that take commands from their input and run them later."""
