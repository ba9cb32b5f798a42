"""Variables that a project may not set without approval, and those that a shell must not inherit.

With the first a project could redirect a model's traffic, load code into programs or change what a command
means. `shell_env` has the names that hold or replace commands.
"""

from __future__ import annotations

from checkrein.facts.shell_env import COMMANDS, LOOKUP, PROMPTS, REPLACING, SOURCED, SPLITTING
from checkrein.facts.shell_words import words

_PLACES = words(
    "HOME SHELL TMPDIR SSH_AUTH_SOCK CLAUDE_CONFIG_DIR CLAUDE_ENV_FILE RIPGREP_CONFIG_PATH CURL_HOME WGETRC"
    " NETRC PSQLRC GNUPGHOME KUBECONFIG DOCKER_HOST DOCKER_CONFIG HOSTALIASES INPUTRC"
)
"""Where programs find the user's files, keys and services."""

_CERTIFICATES = words(
    "NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE"
    " REQUESTS_CA_BUNDLE"
)

_CODE = words(
    "PERL5DB JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS JAVA_OPTS CLASSPATH MAVEN_OPTS GRADLE_OPTS"
    " DOTNET_STARTUP_HOOKS RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTFLAGS CC CXX LD GOFLAGS MAKEFILES"
    " GREP_OPTIONS GCONV_PATH GLIBC_TUNABLES LUA_INIT VIMINIT EXINIT PHPRC PHP_INI_SCAN_DIR R_PROFILE"
    " R_ENVIRON"
)
"""Variables whose values programs load, start or use as options."""

_SHELL_STATE = words("BASHOPTS SHELLOPTS GLOBIGNORE EXECIGNORE")

_COMMANDS = COMMANDS | PROMPTS | SOURCED | REPLACING | SPLITTING | LOOKUP
GUARDED: frozenset[str] = frozenset(
    name.upper() for name in _PLACES | _CERTIFICATES | _CODE | _SHELL_STATE | _COMMANDS
)
"""In upper case. They include the lower-case names, which some programs read."""
GUARDED_PREFIXES = (
    *("LD_", "DYLD_", "XDG_", "OPENSSL_", "BASH_", "GIT_", "PYTHON", "PIP_", "UV_", "NPM_CONFIG_", "CARGO_"),
    *("CHECKREIN_", "ANTHROPIC_", "OPENAI_", "CLAUDE_CODE_USE_", "CLAUDE_CODE_SKIP_", "AWS_", "OTEL_"),
)
_GUARDED_SUFFIXES = ("_BASE_URL", "_API_BASE", "_ENDPOINT", "_API_URL", "_PROXY")
"""Endings of names that hold a service's address."""

NOT_FOR_SHELLS: frozenset[str] = (
    _SHELL_STATE
    | SOURCED
    | LOOKUP
    | words("BASH_COMPAT BASH_XTRACEFD POSIXLY_CORRECT PS4 PROMPT_COMMAND FIGNORE TIMEFORMAT")
)
"""Variables that bash executes or obeys before or while it reads a command."""


_LIMITS = words("BASH_DEFAULT_TIMEOUT_MS BASH_MAX_TIMEOUT_MS BASH_MAX_OUTPUT_LENGTH")
"""Settings of the Bash tool: no shell reads them."""


def needs_approval(name: str) -> bool:
    """True for a variable that a project may not set without approval, in upper or lower case."""
    from checkrein.base.secrets import is_secret_name

    upper = name.upper()
    return upper not in _LIMITS and (
        upper in GUARDED
        or upper.startswith(GUARDED_PREFIXES)
        or upper.endswith(_GUARDED_SUFFIXES)
        or is_secret_name(name)
    )
