"""Elements of the spec's frontmatter: one per field, one per tool, argument and hook."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from checkrein.compile.details import ArgumentDetails, MetadataDetails, ToolDetails
from checkrein.compile.elements import cleaned
from checkrein.compile.hints import read_hint
from checkrein.compile.settings import hook_elements
from checkrein.compile.values import Element, Spec, scalar
from checkrein.facts.claude_fields import AGENT_FIELDS, SKILL_FIELDS, names
from checkrein.facts.compile_rows import FILE_TOOLS, ROWS
from checkrein.model.rule import split_rule, split_rule_list

_SIMPLE = {
    "name": "M-01",
    "description": "M-02",
    "license": "M-03",
    "compatibility": "M-04",
    "disable-model-invocation": "M-11",
    "user-invocable": "M-12",
    "context": "M-13",
    "agent": "M-14",
    "paths": "M-16",
    "shell": "M-17",
    "model": "M-19",
    "effort": "M-20",
    "permissionMode": "M-32",
    "memory": "M-43",
}
_AGENT_ONLY = names(AGENT_FIELDS) - names(SKILL_FIELDS)
_KNOWN = names(SKILL_FIELDS) | {"when_to_use"}


def frontmatter_elements(spec: Spec) -> Iterator[Element]:
    for field, value in spec.values.items():
        yield from _field(spec, field, value)


def _field(spec: Spec, field: str, value: Any) -> Iterator[Element]:
    lines = f"frontmatter.{field}"
    rule = f"claude_code:3:{field}"
    if field in ("allowed-tools", "tools") or (field == "allowed_tools"):
        if field == "tools" and spec.kind == "agent":
            yield _note(spec, lines, rule, f"Tools of the agent: {scalar(value)}")
        for index, entry in enumerate(tool_entries(value)):
            yield tool_element(spec.file, f"{lines}[{index}]" if isinstance(value, list) else lines, entry)
    elif field == "metadata" and isinstance(value, dict):
        row = ROWS["M-05"]
        for key, item in value.items():
            yield cleaned(
                Element(
                    source_file=spec.file,
                    source_lines=f"{lines}.{key}",
                    tag=row.tag,
                    category=row.category,
                    content_summary=f"Metadata {key}: {scalar(item)}",
                    content_full=scalar(item),
                    dialect_rule_id=rule,
                    row=row.id,
                    signal=f"frontmatter.metadata.{key}",
                    details=MetadataDetails(key=str(key)),
                )
            )
    elif field == "hooks":
        yield from hook_elements(spec.hooks, spec.file, "project", "M-15")
    elif field in ("argument-hint", "arguments"):
        yield from _arguments(spec, field, value)
    elif field == "when_to_use":
        yield cleaned(
            Element(
                source_file=spec.file,
                source_lines=lines,
                tag="CONFIG",
                category="C1",
                content_summary=f"When to use: {scalar(value)}",
                content_full=scalar(value),
                dialect_rule_id=rule,
                row="M-02",
                signal="frontmatter.when_to_use",
            )
        )
    elif field == "context" and value != "fork":
        yield _note(spec, lines, rule, f"`context: {scalar(value)}`")
    elif field == "memory" and spec.kind != "agent":
        yield _unknown(spec, lines, rule, field, value)
    elif field in _SIMPLE:
        row = ROWS[_SIMPLE[field]]
        yield cleaned(
            Element(
                source_file=spec.file,
                source_lines=lines,
                tag=row.tag,
                category=row.category,
                content_summary=f"{field}: {scalar(value)}",
                content_full=scalar(value),
                dialect_rule_id=rule,
                row=row.id,
                signal=f"frontmatter.{field}",
            )
        )
    elif field in _KNOWN or (field in _AGENT_ONLY and spec.kind == "agent"):
        yield _note(spec, lines, rule, f"{field}: {scalar(value)}")
    else:
        yield _unknown(spec, lines, rule, field, value)


def _note(spec: Spec, lines: str, rule: str, summary: str) -> Element:
    return cleaned(
        Element(
            source_file=spec.file,
            source_lines=lines,
            tag="NO_DECOMPOSE",
            category="—",
            content_summary=summary,
            dialect_rule_id=rule,
            signal=lines,
            notes="named in the report",
        )
    )


def _unknown(spec: Spec, lines: str, rule: str, field: str, value: Any) -> Element:
    return cleaned(
        Element(
            source_file=spec.file,
            source_lines=lines,
            tag="NO_DECOMPOSE",
            category="—",
            content_summary=f"Unknown field {field}: {scalar(value)}",
            dialect_rule_id=rule,
            signal=lines,
            unknown_frontmatter_field=True,
        )
    )


def tool_entries(value: Any) -> list[str]:
    if isinstance(value, str):
        return split_rule_list(value)
    if isinstance(value, list):
        return [entry for item in value for entry in split_rule_list(scalar(item))]
    return []


def tool_row(entry: str) -> str:
    tool, specifier, _ = split_rule(entry)
    if tool.startswith("mcp__"):
        return "M-10"
    if tool == "Bash" or tool == "PowerShell":
        return "M-07"
    if tool == "WebFetch" and specifier is not None:
        return "M-09"
    return "M-08" if tool in FILE_TOOLS else "M-06"


def tool_element(file: str, lines: str, entry: str) -> Element:
    row = ROWS[tool_row(entry)]
    tool, specifier, problem = split_rule(entry)
    return cleaned(
        Element(
            source_file=file,
            source_lines=lines,
            tag=row.tag,
            category=row.category,
            content_summary=f"Tool {entry}",
            content_full=entry,
            dialect_rule_id="claude_code:3a:allowed-tools",
            row=row.id,
            signal=f"frontmatter.allowed-tools:{entry}",
            notes=problem,
            details=ToolDetails(tool=tool, specifier=specifier),
        )
    )


def _arguments(spec: Spec, field: str, value: Any) -> Iterator[Element]:
    row = ROWS["M-18"]
    listed = value if isinstance(value, list) else [value]
    for index, item in enumerate(listed):
        if isinstance(item, dict):
            pairs = [
                (str(item.get("name") or f"argument_{index + 1}"), scalar(item.get("description") or ""))
            ]
        elif field == "arguments":
            pairs = [(word, "") for word in scalar(item).split()]
        else:
            pairs = read_hint(scalar(item))
        for name, about in pairs:
            yield cleaned(
                Element(
                    source_file=spec.file,
                    source_lines=f"frontmatter.{field}" + (f"[{index}]" if isinstance(value, list) else ""),
                    tag=row.tag,
                    category=row.category,
                    content_summary=f"Argument {name}" + (f": {about}" if about else ""),
                    content_full=name,
                    dialect_rule_id=f"claude_code:3b:{field}",
                    row=row.id,
                    signal=f"argument:{name}",
                    details=ArgumentDetails(argument=name, about=about),
                )
            )
