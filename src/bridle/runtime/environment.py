"""Which variables a child gets.

A project's `env` can redirect a model's traffic, load code into programs or change what a command means, so
such names need an approval of their own. The shell gets nothing that would change how it reads a command.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

_GUARDED_NAMES = """
PATH HOME SHELL ENV IFS PS4 CDPATH EDITOR VISUAL PAGER BROWSER TMPDIR
BASHOPTS SHELLOPTS PROMPT_COMMAND GLOBIGNORE EXECIGNORE
NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED
RUBYOPT RUBYLIB PERL5OPT PERL5LIB PERL5DB JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS MAVEN_OPTS
GRADLE_OPTS DOTNET_STARTUP_HOOKS RUSTC_WRAPPER RUSTFLAGS CC CXX LD LESSOPEN LESSCLOSE
SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE REQUESTS_CA_BUNDLE
SSH_AUTH_SOCK SSH_ASKPASS SUDO_ASKPASS CLAUDE_CONFIG_DIR CLAUDE_ENV_FILE RIPGREP_CONFIG_PATH
GCONV_PATH GLIBC_TUNABLES HOSTALIASES MAKEFLAGS MAKEFILES GOFLAGS TAR_OPTIONS GREP_OPTIONS RSYNC_RSH MANPAGER
LUA_INIT VIMINIT EXINIT INPUTRC CURL_HOME WGETRC NETRC PSQLRC GNUPGHOME KUBECONFIG DOCKER_HOST DOCKER_CONFIG
CLASSPATH JAVA_OPTS RUSTC RUSTC_WORKSPACE_WRAPPER PHPRC PHP_INI_SCAN_DIR R_PROFILE R_ENVIRON
"""
_SHELL_NAMES = """
BASH_ENV ENV SHELLOPTS BASHOPTS BASH_COMPAT BASH_XTRACEFD POSIXLY_CORRECT CDPATH GLOBIGNORE EXECIGNORE
PS4 PROMPT_COMMAND FIGNORE TIMEFORMAT
"""
_GUARDED = frozenset(_GUARDED_NAMES.split())
_GUARDED_PREFIXES = (
    *("LD_", "DYLD_", "XDG_", "OPENSSL_", "BASH_", "GIT_", "PYTHON", "PIP_", "UV_", "NPM_CONFIG_", "CARGO_"),
    *("BRIDLE_", "ANTHROPIC_", "OPENAI_", "CLAUDE_CODE_USE_", "CLAUDE_CODE_SKIP_", "AWS_", "OTEL_"),
)
_ENDPOINT_SUFFIXES = ("_BASE_URL", "_API_BASE", "_ENDPOINT", "_API_URL", "_PROXY")
_SHELL = frozenset(_SHELL_NAMES.split())


def needs_approval(name: str) -> bool:
    """True for a variable that a project may not set on its own word."""
    from bridle.base.secrets import is_secret_name

    upper = name.upper()
    return (
        upper in _GUARDED
        or upper.startswith(_GUARDED_PREFIXES)
        or upper.endswith(_ENDPOINT_SUFFIXES)
        or is_secret_name(name)
    )


def child_env(
    base: Mapping[str, str], project_env: Mapping[str, str], approvals: Collection[str] = ()
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The environment of children, and the names of the project's variables that were left out."""
    result = dict(base)
    refused = []
    for name, value in project_env.items():
        if needs_approval(name) and name not in approvals:
            refused.append(name)
        elif _is_settable(name, value):
            result[name] = value
        else:
            refused.append(name)
    return result, tuple(sorted(refused))


def shell_env(env: Mapping[str, str]) -> dict[str, str]:
    """Without what bash would execute or obey before or while it reads a command: start-up files, imported
    functions, inherited options."""
    return {
        name: value
        for name, value in env.items()
        if name not in _SHELL and not name.startswith("BASH_FUNC_") and _is_settable(name, value)
    }


def hook_env(env: Mapping[str, str]) -> dict[str, str]:
    """For hooks: as for the shell, and without telemetry settings, which name endpoints and hold keys."""
    return {name: value for name, value in shell_env(env).items() if not name.startswith("OTEL_")}


def _is_settable(name: str, value: str) -> bool:
    return bool(name) and "=" not in name and "\0" not in name and "\0" not in value
