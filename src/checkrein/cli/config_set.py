"""`checkrein config set`: write one value into a configuration file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checkrein.base.errors import ConfigError, FileError, UsageError
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require

if TYPE_CHECKING:
    from pathlib import Path

    from checkrein.base.config import Key, Layer

FROM_INPUT = "-"


class Payload(Struct, frozen=True):
    """`value` is hidden when the key holds a secret; null when the key is not set any more."""

    name: str
    value: Any
    file: str
    changed: bool


PLACE_ARGS = (
    Arg(
        name="shared",
        flags=("--shared",),
        type="bool",
        help="In the project's checkrein.toml, for everybody; without it, in your own config.toml.",
    ),
    PROJECT_ARG,
)
KEY_ARG = Arg(name="key", required=True, complete="config-keys", help="The key, such as model.default.")

COMMAND = Command(
    name="config set",
    summary="Write one value of Checkrein's own configuration.",
    args=(
        KEY_ARG,
        Arg(
            name="value",
            required=True,
            help="JSON, or plain text for a text; `-` reads it from standard input, so that a secret is not"
            " in the shell's history.",
        ),
        *PLACE_ARGS,
    ),
    payload=Payload,
    errors=("config_invalid", "key_unknown", "value_invalid", "filesystem", "project_not_found"),
    examples=(
        ("checkrein config set model.default ollama:qwen3:8b", "the model of every run"),
        ("checkrein config set model.api_key - < key.txt", "a secret, from a file"),
    ),
)


def run(key: str, value: str, shared: bool, project: str) -> Outcome:
    declared = key_named(key)
    if value == FROM_INPUT:
        import sys

        value = sys.stdin.read().strip()
    return change(declared, _typed(declared, value), shared, project)


def change(key: Key, value: Any, shared: bool, project: str) -> Outcome:
    """Write a value, or take it away (`toml_edit.UNSET`)."""
    from checkrein.base import toml_edit
    from checkrein.base.secrets import REDACTED

    layer: Layer = "project" if shared else "user"
    if layer not in key.layers:
        where = "the project" if shared else "your config.toml"
        raise UsageError(
            f"{key.name} can't be set in {where}.",
            kind="value_invalid",
            hint=f"Only these layers can set it: {', '.join(key.layers)}.",
        )
    file = _file(shared, project)
    changed = _write(file, key.name, value)
    shown = None if value is toml_edit.UNSET else REDACTED if key.secret else value
    payload = Payload(key.name, shown, str(file), changed)

    def text() -> str:
        from checkrein.cli import paint

        said = f"{key.name} is not set" if shown is None else f"{key.name} = {toml_edit.written(shown)}"
        return f"{said}  " + paint.dim(f"({paint.path(str(file))}{'' if changed else ', as before'})")

    return Outcome(data=payload, text=text)


def key_named(name: str) -> Key:
    from checkrein.base.nearest import did_you_mean
    from checkrein.facts.config import KEYS

    keys = {key.name: key for key in KEYS}
    if name not in keys:
        raise UsageError(
            f"`{name}` is not a configuration key.{did_you_mean(name, keys)}",
            kind="key_unknown",
            hint="`checkrein config` lists the keys.",
        )
    return keys[name]


def _typed(key: Key, text: str) -> Any:
    """The value that a text means for a key: JSON, or the text itself where that fits."""
    import msgspec

    problem: Exception | None = None
    readings: list[Any] = [text]
    try:
        readings.insert(0, msgspec.json.decode(text))
    except msgspec.DecodeError as error:
        problem = error
    for value in readings:
        try:
            return msgspec.to_builtins(msgspec.convert(value, key.type, strict=True))
        except msgspec.ValidationError as error:
            problem = error
    shown = "the value" if key.secret else repr(text[:80])
    raise UsageError(f"{key.name} can't be {shown}: {problem}", kind="value_invalid", hint=key.help)


def _file(shared: bool, project: str) -> Path:
    import os
    from pathlib import Path

    from checkrein.base.home import checkrein_home

    if not shared:
        return checkrein_home() / "config.toml"
    from checkrein.dialects.claude.place import locate

    require(project)
    return Path(locate(project, env=os.environ).place.root) / "checkrein.toml"


def _write(file: Path, name: str, value: Any) -> bool:
    """Whether the file changed."""
    import tomllib

    from checkrein.base.files import locked, read_text, write_atomic
    from checkrein.base.home import checkrein_home, private_dir
    from checkrein.base.toml_edit import NotEditableError, with_value

    own = file.name == "config.toml"
    try:
        with locked(private_dir(checkrein_home()) / "config.lock"):
            before = read_text(file).text if file.exists() else ""
            after = with_value(before, name, value)
            if after != before:
                write_atomic(file, after.encode(), mode=0o600 if own else None)
            return after != before
    except OSError as error:
        raise FileError(f"{file} can't be written: {error.strerror}.") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is not TOML: {error}.", hint="Correct it first.") from None
    except NotEditableError:
        raise ConfigError(
            f"{file} sets {name} in a way that only a person can change.", hint="Edit the file."
        ) from None
