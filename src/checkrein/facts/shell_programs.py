"""Which programs may run commands from their arguments, and which use arguments only as data.

A program that is in none of these tables may be a wrapper: a denied command in its arguments, on its input or
in a variable that is set for it needs approval.
"""

from __future__ import annotations

from checkrein.facts.shell_code import INTERPRETERS
from checkrein.facts.shell_files import FILES
from checkrein.facts.shell_readonly import READ_ONLY
from checkrein.facts.shell_words import words

_RUN: frozenset[str] = words(
    "less more most zless bat batcat vi vim nvim view ex ed nano pico emacs micro joe code subl rsync scp"
    " sftp rclone gpg ssh-keygen ssh-add pandoc open xdg-open source . bash sh zsh dash sqlite3 python3 zip"
    " tar cpio arch"
)
"""They read or write files, and also run commands."""

_SCRIPTS: frozenset[str] = words("sed gsed awk gawk mawk nawk")
"""Interpreters whose code is identified exactly."""

_MORE: frozenset[str] = words(
    "git gh glab hg svn jj cvs fossil pgrep pkill killall kill whereis whatis apropos info tldr whatprovides"
    " export declare typeset local readonly unset unalias wait jobs disown bg fg ulimit umask times return"
    " exit pytest py.test"
    " break continue dirs logout notify-send logger lsof fuser ping dig host nslookup"
)

DATA: frozenset[str] = frozenset(
    ((READ_ONLY.keys() | FILES.keys() | _MORE) - _RUN - INTERPRETERS.keys()) | _SCRIPTS
)
"""They never run their arguments or their input, except for options in the other tables."""

OWN_NAMES: frozenset[str] = words(
    "docker podman nerdctl docker-compose kubectl oc helm npm pnpm yarn bun cargo go pip pip3 uv poetry pdm"
    " conda mamba apt apt-get aptitude dpkg brew dnf yum zypper pacman apk snap flatpak port gem bundle"
    " composer mvn gradle ant make gmake bmake ninja just task rake tox nox invoke terraform pulumi aws"
    " gcloud"
    " gsutil az doctl heroku fly flyctl vercel systemctl journalctl service launchctl virsh vagrant dvc"
    " mix rails rustup nvm rbenv pyenv asdf mise ansible-playbook pytest jest cmake ctest meson bazel sbt"
)
"""Their plain words are their own subcommands, targets and names: `docker rm c` is not `rm`."""

OPEN: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        ("docker", "podman", "nerdctl", "docker-compose"), words("exec run create unshare --entrypoint")
    ),
    **dict.fromkeys(("kubectl", "oc"), words("exec run debug rsh")),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), words("exec x dlx config --script-shell")),
    **dict.fromkeys(
        ("uv", "poetry", "pdm", "conda", "mamba", "bundle", "gem", "composer"), words("run exec tool")
    ),
    **dict.fromkeys(("rbenv", "pyenv", "nvm", "asdf", "mise", "tox", "nox"), words("exec x run --")),
    **dict.fromkeys(("heroku", "fly", "flyctl", "vercel"), words("run ssh console")),
    **dict.fromkeys(("gh", "gcloud", "vagrant"), words("alias ssh")),
    **dict.fromkeys(("snap", "flatpak", "launchctl"), words("run submit")),
    "just": words("-c --command --shell"),
    "cmake": words("-E"),
    "ctest": words("--test-command"),
    "helm": words("--post-renderer"),
    "mix": words("cmd do"),
    "terraform": words("console"),
}
"""Words of the programs above that a command may follow."""

STARTERS: frozenset[str] = words(
    "sh bash dash ash ksh mksh zsh env sudo doas xargs nohup timeout nice setsid busybox eval exec"
    " touch tee cp mv dd ln truncate chmod chown"
)
"""Among the arguments of an unknown program, these start a command."""

VERBS: frozenset[str] = words(
    "shell system exec execute spawn run call do then else elif if while until time sudo doas env nohup nice"
    " command builtin eval xargs exec= program popen start silent subprocess"
)
"""In a text of another language, a command may follow one of these."""

SUBCOMMANDS: dict[str, dict[str, str]] = {
    "git": {"send-pack": "push"},
    "npm": {
        **dict.fromkeys(("run-script", "rum", "urn"), "run"),
        **dict.fromkeys(
            ("i", "in", "ins", "inst", "insta", "instal", "isnt", "isnta", "isntal", "add"), "install"
        ),
        **dict.fromkeys(("x",), "exec"),
        **dict.fromkeys(("t", "tst"), "test"),
        **dict.fromkeys(("rm", "r", "un", "unlink", "remove"), "uninstall"),
    },
    "pnpm": {"run-script": "run", "i": "install"},
}
"""Other names of subcommands: a rule on one is a rule on all of them. The options of these programs may stand
anywhere."""
