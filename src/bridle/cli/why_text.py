"""The text of `bridle why`."""

from __future__ import annotations

import msgspec

from bridle.cli import paint
from bridle.passes.explain import Explanation, Link


def explanation(found: Explanation) -> str:
    lines = [f"{found.kind} {paint.bold(_path_or_name(found))} = {_value(found.value)}"]
    if found.origin is not None:
        field = f"  {paint.dim(found.origin.field)}" if found.origin.field else ""
        lines.append(f"  from {paint.place(found.origin)}{field}")
    lines += [f"  {note}" for note in found.notes]
    lines.append(f"  {paint.dim('order: ' + found.order)}")
    if len(found.chain) > 1 or any(link.lost for link in found.chain):
        lines += [_link(number, link) for number, link in enumerate(found.chain, 1)]
    return "\n".join(lines)


def _path_or_name(found: Explanation) -> str:
    return paint.path(found.name) if found.kind == "instruction" else found.name


def _link(number: int, link: Link) -> str:
    mark = "✗" if link.lost else "✓"
    reason = f"  — {link.lost}" if link.lost else ""
    room = max(24, paint.width() - 60)
    value = paint.fit(_value(link.value), room)
    line = f"  {number:>2}. {mark} {link.scope:<8} {paint.place(link.origin)}  {value}{reason}"
    return paint.dim(line) if link.lost else line


def _value(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str).decode()
