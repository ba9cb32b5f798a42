"""Deploy's part of a TOML file: one section between two comments. Everything around it stays to the byte."""

from __future__ import annotations

from typing import Any

from checkrein.deploy.manifest import digest
from checkrein.deploy.merge import Merge, Merged, Refused, hash_of, pointer
from checkrein.dialects.generic.emit import toml_text

BEGIN = "# >>> checkrein deploy"
END = "# <<< checkrein deploy"


def merge_toml(text: str, wanted: dict[str, Any], old: Merge, *, force: bool = False) -> Merged | Refused:
    """Put the tables of `wanted` into a section of `text`; remove the section when there are no tables.

    A table outside the section is the user's; `force` overwrites the section only.
    """
    begin, end = _section(text)
    if begin < 0 and (BEGIN in text or END in text):
        return Refused("holds a part of deploy's section; remove the lines with `checkrein deploy`")
    ours = text[begin:end] if begin >= 0 else ""
    if ours and digest(ours.encode()) != old.section and not force:
        return Merged(text, old, edited=("section",))
    lead = old.lead if ours and text[:begin].endswith(old.lead) else ""
    before, after = (text[: begin - len(lead)], text[end:]) if ours else (text, "")
    theirs = _parse(before + after)
    if isinstance(theirs, Refused):
        return theirs
    chosen, taken = _chosen(wanted, theirs)
    if not chosen:
        return Merged(before + after, Merge(created=old.created), taken=taken)
    if not ours:
        lead = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    section = f"{BEGIN}\n{toml_text(chosen)}{END}\n"
    result = before + lead + section + after
    if _parse(result) != _joined(theirs, chosen):
        return Refused("has tables that deploy can't add others to")
    return Merged(
        result, Merge(created=old.created, section=digest(section.encode()), lead=lead), taken=taken
    )


def _section(text: str) -> tuple[int, int]:
    """Where the section starts and ends; (-1, -1) without one."""
    begin = 0 if text.startswith(BEGIN + "\n") else text.find(f"\n{BEGIN}\n") + 1
    if not text.startswith(BEGIN + "\n", begin):
        return -1, -1
    end = text.find(f"\n{END}\n", begin)
    return (begin, end + len(END) + 2) if end >= 0 else (-1, -1)


def _parse(text: str) -> dict[str, Any] | Refused:
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        import re

        line = re.search(r"line (\d+)", str(error))
        return Refused(f"is not TOML ({error})", int(line[1]) if line else 1)


def _chosen(wanted: dict[str, Any], theirs: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The tables that the user lacks, and the pointers of those where the user has other values."""
    chosen: dict[str, Any] = {}
    taken: list[str] = []
    for top, tables in wanted.items():
        held = theirs.get(top, {})
        if not isinstance(tables, dict) or not isinstance(held, dict):
            if held != tables:
                taken.append(pointer((top,)))
            continue
        for key, value in tables.items():
            if key not in held:
                chosen.setdefault(top, {})[key] = value
            elif hash_of(_plain(held[key])) != hash_of(_plain(value)):
                taken.append(pointer((top, key)))
    return chosen, tuple(taken)


def _joined(theirs: dict[str, Any], chosen: dict[str, Any]) -> dict[str, Any]:
    return {**theirs, **{top: {**theirs.get(top, {}), **tables} for top, tables in chosen.items()}}


def _plain(value: Any) -> Any:
    """A value without the order of keys, which means nothing in TOML, and with dates as text."""
    if isinstance(value, dict):
        return {key: _plain(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value if isinstance(value, str | int | float | bool) else str(value)
