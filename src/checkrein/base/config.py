"""Checkrein's own configuration: declared keys, ordered layers, the origin of each value.

Layers, lowest first: defaults, `config.toml` in the Checkrein home (user), `checkrein.toml` or
`[tool.checkrein]` in `pyproject.toml` (project), `.checkrein/secrets.toml` (secrets), and
`CHECKREIN_SECTION__KEY` in the environment (env; JSON values, or plain text for a string key).
Lists replace. An unknown key, a value of the wrong type and a key that its layer may not set become
Diagnostics; their values are not used.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.files import read_text
from checkrein.base.nearest import did_you_mean
from checkrein.base.origin import Origin, Scope, Span

Layer = Literal["user", "project", "secrets", "env"]
LAYERS: tuple[Layer, ...] = get_args(Layer)
OWN_LAYERS: tuple[Layer, ...] = ("user", "secrets", "env")
"""Layers that belong to the user alone: a checked-out project can't write them."""

_SCOPES: dict[Layer, Scope] = {"user": "user", "project": "project", "secrets": "local", "env": "cli"}
_NOT_CONFIG = frozenset(
    {"CHECKREIN_HOME", "CHECKREIN_CLOCK", "CHECKREIN_ID_SEED", "CHECKREIN_SCHEMA_VERSION"}
)


class Key(Struct, frozen=True):
    """A configuration value: its dotted name, type, default, meaning, and who may set it."""

    name: str
    type: Any
    default: Any
    help: str
    layers: tuple[Layer, ...] = LAYERS
    secret: bool = False


class ConfigValue(Struct, frozen=True):
    value: Any
    layer: str
    origin: Origin | None = None


class Config(Struct, frozen=True):
    """`values` are in effect; `layers` holds every permitted setting of a key, lowest layer first."""

    values: dict[str, ConfigValue]
    diagnostics: tuple[Diagnostic, ...] = ()
    layers: dict[str, tuple[ConfigValue, ...]] = {}

    def get(self, name: str) -> Any:
        return self.values[name].value


def load_config(keys: Iterable[Key], root: Path, home: Path, env: Mapping[str, str] | None = None) -> Config:
    """The effective configuration for a project at `root`. Never raises on what a user wrote."""
    declared = {key.name: key for key in keys}
    values = {key.name: ConfigValue(key.default, "default") for key in declared.values()}
    layers: dict[str, tuple[ConfigValue, ...]] = {}
    findings: list[Diagnostic] = []
    for layer, file, table in _layers(declared, root, home, os.environ if env is None else env, findings):
        for name, value in _flatten(table, declared):
            held = _checked(findings, declared, layer, file, name, value)
            if held is not None:
                values[name] = held
                layers[name] = (*layers.get(name, ()), held)
    return Config(values, tuple(findings), layers)


def _layers(
    declared: Mapping[str, Key], root: Path, home: Path, env: Mapping[str, str], findings: list[Diagnostic]
) -> Iterable[tuple[Layer, str, dict[str, Any]]]:
    own = root / "checkrein.toml"
    shared = root / "pyproject.toml"
    yield "user", str(home / "config.toml"), _toml(home / "config.toml", "user", findings)
    if own.is_file() or not shared.is_file():
        yield "project", str(own), _toml(own, "project", findings)
    else:
        tool = _toml(shared, "project", findings).get("tool", {})
        yield "project", str(shared), tool.get("checkrein", {}) if isinstance(tool, dict) else {}
    secrets = root / ".checkrein" / "secrets.toml"
    if _is_private(secrets, findings):
        yield "secrets", str(secrets), _toml(secrets, "secrets", findings)
    yield "env", "<environment>", _environment(declared, env)


def _is_private(path: Path, findings: list[Diagnostic]) -> bool:
    """A secrets file counts only when nobody else can read it. A file from a checkout never passes."""
    try:
        status = path.stat()
    except OSError:
        return False
    if os.name == "posix" and (status.st_mode & 0o077 or status.st_uid != os.getuid()):
        message = "this file is ignored because others can read it. If it is yours, run `chmod 600` on it"
        findings.append(_finding("CFG005", message, path, "secrets", None))
        return False
    return True


def _toml(path: Path, layer: Layer, findings: list[Diagnostic]) -> dict[str, Any]:
    if not path.is_file():
        return {}
    import tomllib

    found = read_text(path, within=() if layer in ("project", "secrets") else None)
    if found.problem is not None:
        findings.append(_finding("CFG001", f"this file can't be read: it {found.problem}", path, layer, None))
        return {}
    try:
        return tomllib.loads(found.text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"line (\d+), column (\d+)", str(error))
        span = Span(int(at[1]), int(at[2])) if at else None
        findings.append(_finding("CFG001", f"this file can't be read: {error}", path, layer, span))
        return {}


def _environment(declared: Mapping[str, Key], env: Mapping[str, str]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for variable, text in env.items():
        if not variable.startswith("CHECKREIN_") or "__" not in variable or variable in _NOT_CONFIG:
            continue
        name = variable[len("CHECKREIN_") :].lower().replace("__", ".")
        key = declared.get(name)
        try:
            table[name] = msgspec.json.decode(text)
        except msgspec.DecodeError:
            table[name] = text
        if key is not None and key.type is str and not isinstance(table[name], str):
            table[name] = text
    return table


def _flatten(
    table: Mapping[str, Any], declared: Mapping[str, Key], prefix: str = ""
) -> Iterable[tuple[str, Any]]:
    for name, value in table.items():
        path = f"{prefix}{name}"
        if path not in declared and isinstance(value, dict) and value:
            yield from _flatten(value, declared, f"{path}.")
        else:
            yield path, value


def _checked(
    findings: list[Diagnostic],
    declared: Mapping[str, Key],
    layer: Layer,
    file: str,
    name: str,
    value: Any,
) -> ConfigValue | None:
    """The value that a layer sets; None and a finding when the layer may not set it."""
    key = declared.get(name)
    span = _line_of(file, name)
    if key is None:
        message = f"`{name}` is not a configuration key.{did_you_mean(name, declared)}"
        findings.append(_finding("CFG002", message, file, layer, span, "warning"))
        return None
    if layer not in key.layers:
        message = f"`{name}` can't be set here; only {_list(key.layers)} can set it"
        findings.append(_finding("CFG003", message, file, layer, span))
        return None
    try:
        checked = msgspec.convert(value, key.type, strict=True)
    except msgspec.ValidationError as error:
        findings.append(_finding("CFG004", f"`{name}` has the wrong type: {error}", file, layer, span))
        return None
    return ConfigValue(checked, layer, Origin(file, _SCOPES[layer], span, name))


def _list(layers: tuple[Layer, ...]) -> str:
    return ", ".join({"user": "the user's config.toml", "env": "the environment"}.get(x, x) for x in layers)


def _line_of(file: str, name: str) -> Span | None:
    if not os.path.isfile(file):
        return None
    leaf = re.compile(rf"^\s*(?:\[+.*\b)?{re.escape(name.rpartition('.')[2])}\b\s*(?:=|\])")
    with open(file, encoding="utf-8", errors="replace") as lines:
        return next((Span(number) for number, line in enumerate(lines, 1) if leaf.match(line)), None)


def _finding(
    code: str,
    message: str,
    file: str | Path,
    layer: Layer,
    span: Span | None,
    severity: Literal["error", "warning"] = "error",
) -> Diagnostic:
    return Diagnostic(code, severity, message, Origin(str(file), _SCOPES[layer], span))
