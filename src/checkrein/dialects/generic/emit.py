"""YAML, TOML and JSON that every agent's parser reads in the same way.

YAML is written strictly: block style, one line per scalar, and quotes around every text that is not plainly
a word or words. Some agents use parsers that drop what others accept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*(?:,? [A-Za-z0-9_./-]+)*")
_RESERVED = frozenset(["true", "false", "yes", "no", "on", "off", "y", "n", "null", "none", "nan", "inf"])
_TOML_KEY = re.compile(r"[A-Za-z0-9_-]+")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")


def encode(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def is_plain(text: str) -> bool:
    """Whether every YAML parser reads the text without quotes as exactly that text."""
    return _PLAIN.fullmatch(text) is not None and text.lower() not in _RESERVED


def yaml_text(values: Mapping[str, Any]) -> str:
    """A mapping as strict YAML, keys in the given order."""
    if not values:
        return ""
    import yaml

    return str(yaml.dump(dict(values), Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=2**30))


_dumper_class: Any = None


def _dumper() -> Any:
    global _dumper_class
    if _dumper_class is None:
        import yaml

        class Strict(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc] # chosen at run time
            def ignore_aliases(self, data: Any) -> bool:
                return True

        def text(dumper: Any, value: str) -> Any:
            return dumper.represent_scalar("tag:yaml.org,2002:str", value, None if is_plain(value) else '"')

        def sequence(dumper: Any, value: Any) -> Any:
            return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=not value)

        Strict.add_representer(str, text)
        Strict.add_representer(list, sequence)
        Strict.add_representer(tuple, sequence)
        _dumper_class = Strict
    return _dumper_class


def markdown(values: Mapping[str, Any], body: str) -> bytes:
    """A Markdown file with frontmatter; without values, the body alone."""
    if not values:
        return encode(body)
    return encode(f"---\n{yaml_text(values)}---\n{body}")


def json_text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def toml_text(values: Mapping[str, Any]) -> str:
    """A TOML document: first the plain keys, then the tables, each in the given order."""
    lines: list[str] = []
    _toml_table(values, (), lines)
    return "\n".join(lines).lstrip("\n") + "\n"


def _toml_table(values: Mapping[str, Any], path: tuple[str, ...], lines: list[str]) -> None:
    plain = {key: value for key, value in values.items() if not isinstance(value, Mapping)}
    tables = {key: value for key, value in values.items() if isinstance(value, Mapping)}
    if path and (plain or not tables):
        lines.append("")
        lines.append("[" + ".".join(_toml_key(part) for part in path) + "]")
    lines.extend(f"{_toml_key(key)} = {_toml_value(value)}" for key, value in plain.items())
    for key, value in tables.items():
        _toml_table(value, (*path, key), lines)


def _toml_key(key: str) -> str:
    return key if _TOML_KEY.fullmatch(key) else _toml_string(key)


def _toml_value(value: Any) -> str:
    if isinstance(value, str):
        return _toml_prose(value) if "\n" in value else _toml_string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml_key(k)} = {_toml_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml_value(item) for item in value) + "]"
    raise TypeError(f"TOML has no form for {type(value).__name__}")


def _toml_string(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", "\\\\ufffd", quoted.replace("\x7f", "\\u007f"))


def _toml_prose(text: str) -> str:
    """Several lines stay readable if nothing in them needs an escape."""
    if "\\" in text or '"""' in text or "\r" in text or _UNPRINTABLE.search(text) or text.endswith('"'):
        return _toml_string(text)
    return f'"""\n{text}"""'
