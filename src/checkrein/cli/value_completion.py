"""What can follow an option: the values that a shell completes. `Arg.complete` names one of `SOURCES`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from click.shell_completion import BashComplete, CompletionItem, add_completion_class, split_arg_string

if TYPE_CHECKING:
    import click

_SECONDS = 1.0
"""The wait for a server's list of models while somebody types."""


def complete(source: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem[Any]]]:
    """The callback of a parameter. What goes wrong completes nothing: a shell can't show why."""

    def values(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem[Any]]:
        try:
            found = list(SOURCES[source](begun))
        except Exception:
            return []
        return [CompletionItem(value, help=text) for value, text in found if value.startswith(begun)]

    return values


Rows = Iterable[tuple[str, str | None]]


def _agents(begun: str) -> Rows:
    """Several are separated by commas."""
    from checkrein.facts.agents import targets

    before = begun[: begun.rfind(",") + 1]
    return [(f"{before}{name}", None) for name in sorted((*targets(), "all"))]


def _codes(begun: str) -> Rows:
    from checkrein.passes.codes import pages

    return [(code, page.name) for code, page in pages().items()]


def _models(begun: str) -> Rows:
    from checkrein.facts.models import ALIASES, MODELS
    from checkrein.facts.models_providers import FILE_KINDS, PROVIDERS

    provider, colon, name = begun.partition(":")
    if not colon:
        return [
            *((alias, model) for alias, model in ALIASES.items()),
            *((f"{name}:", row.example) for name, row in PROVIDERS.items()),
            *((model, None) for model in MODELS),
        ]
    if provider not in PROVIDERS:
        return []
    if PROVIDERS[provider].kind in FILE_KINDS:
        return [(f"{provider}:{path}", None) for path in _paths(name)]
    if provider == "anthropic":
        known = [*ALIASES, *(model for model in MODELS if model.startswith("claude"))]
    elif provider.startswith("openai"):
        known = [model for model in MODELS if not model.startswith("claude")]
    else:
        from checkrein.llm.catalogue import models_of

        known = list(models_of(provider, os.environ, seconds=_SECONDS))
    return [(f"{provider}:{model}", None) for model in known]


def _paths(begun: str) -> list[str]:
    import glob

    found = glob.glob(f"{glob.escape(begun)}*")
    return [f"{path}{os.sep}" if os.path.isdir(path) else path for path in found]


def _sessions(begun: str) -> Rows:
    from checkrein.protocol.session_rows import list_rows

    return [(row.session_id, row.summary) for row in list_rows(".", 50).sessions]


def _config_keys(begun: str) -> Rows:
    from checkrein.facts.config import KEYS

    return [(key.name, key.help) for key in KEYS]


def _servers(begun: str) -> Rows:
    from checkrein.passes.load import load

    return [(name, None) for name in load(".").servers]


def _recipes(begun: str) -> Rows:
    from checkrein.passes.load import load
    from checkrein.passes.recipes.library import library_of

    return [(name, one.item.description) for name, one in library_of(load(".")).recipes.items()]


SOURCES: dict[str, Callable[[str], Rows]] = {
    "agents": _agents,
    "codes": _codes,
    "models": _models,
    "sessions": _sessions,
    "config-keys": _config_keys,
    "servers": _servers,
    "recipes": _recipes,
}


class _Bash(BashComplete):
    """Bash breaks words at a colon, and `provider:name` has one. So this reads the line itself, and gives
    back only what comes after the colon."""

    name = "bash"
    source_template = BashComplete.source_template.replace(
        "COMP_CWORD=$COMP_CWORD",
        'COMP_CWORD=$COMP_CWORD COMP_LINE="$COMP_LINE" COMP_POINT=$COMP_POINT COMP_BREAKS="$COMP_WORDBREAKS"',
    )
    _before = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ.get("COMP_LINE")
        if not line:
            return super().get_completion_args()
        typed = line[: int(os.environ.get("COMP_POINT", len(line)))]
        words = split_arg_string(typed)
        begun = "" if not words or typed[-1:].isspace() else words.pop()
        if ":" in os.environ.get("COMP_BREAKS", ":"):
            self._before = begun[: begun.rfind(":") + 1]
        return words[1:], begun

    def format_completion(self, item: CompletionItem[Any]) -> str:
        value = str(item.value).removeprefix(self._before)
        return f"{item.type},{value}"


def install() -> None:
    """Use our completion for bash."""
    add_completion_class(_Bash)
