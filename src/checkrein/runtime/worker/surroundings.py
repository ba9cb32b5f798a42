"""The environment of a worker: a list of what goes in, and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from checkrein.base.errors import PolicyError
from checkrein.facts.models_providers import CREDENTIALS

MARK = "CHECKREIN_WORKER"
"""Set in every worker, so that none starts another."""
_PLAIN = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "TMPDIR", "NO_COLOR"),
        *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"),
        *("NODE_EXTRA_CA_CERTS", "CLAUDE_CONFIG_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"),
        *("ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_MODEL", "OPENAI_BASE_URL"),
    )
)
_NEVER = "CHECKREIN_SERVE__TOKEN"
"""With it a worker would be a client that opens the kitchen."""
_PREFIXES = ("LC_", "CHECKREIN_", "CLAUDE_CODE_USE_", "ANTHROPIC_DEFAULT_")


def worker_env(env: Mapping[str, str], more: Collection[str] = ()) -> dict[str, str]:
    """The credentials of the models are for the session itself; its own children never get them."""
    kept = {
        name: value
        for name, value in env.items()
        if name.upper() in _PLAIN or name in CREDENTIALS or name.startswith(_PREFIXES) or name in more
    }
    kept.pop(_NEVER, None)
    return kept | {MARK: "1"}


def is_worker(env: Mapping[str, str]) -> bool:
    return bool(env.get(MARK))


def refuse_nested(env: Mapping[str, str]) -> None:
    if is_worker(env):
        raise PolicyError(
            "A worker can't start a worker; it runs one skill and reports.",
            kind="worker_nested",
            hint="Let whoever started this worker start the next one.",
        )
