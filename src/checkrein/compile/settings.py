"""Elements from source items: settings, rules, hooks, servers, plugins. They never hold values of
variables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from checkrein.base.jsonpos import join
from checkrein.base.origin import Origin
from checkrein.base.secrets import is_secret_name, looks_secret, redact_text
from checkrein.compile.details import HookDetails, RuleDetails, ServerDetails
from checkrein.compile.elements import cleaned
from checkrein.compile.values import Element, SourceName, scalar
from checkrein.dialects.claude.settings import undotted
from checkrein.facts.compile_rows import ROWS
from checkrein.model.items import Hook, Plugin, Server, Setting
from checkrein.model.project import Sources
from checkrein.model.rule import VERDICTS, Rule

_RULE_ROWS = {"allow": "M-26", "ask": "M-27", "deny": "M-28"}
_SUMMARIES = {"allow": "May use", "ask": "Must confirm", "deny": "Never"}
_PERSONAL = re.compile(r"(?:^|[(\s:=])(?:~/|//?(?:home|Users)/|[A-Za-z]:\\)")
_HANDLER = re.compile(r"(?<=\])\.hooks\[\d+\]$")


def is_personal(text: str) -> bool:
    """A path on somebody's own machine."""
    return _PERSONAL.search(text) is not None


def settings_elements(items: Sources, file: str, source: SourceName) -> Iterator[Element]:
    """Every key of one settings file, in its order. `items` are those of this file."""
    rules = {rule.origin.field: rule for rule in items.rules}
    servers = {server.origin.field: server for server in items.servers}
    seen: set[str] = set()
    for setting in items.settings:
        key, *below = undotted(setting.name)
        field = setting.origin.field or ""
        if key == "hooks":
            yield from hook_elements((h for h in items.hooks if group_of(h) == field), file, source, "M-30")
        elif key == "mcpServers":
            if field in servers:
                yield server_element(servers[field], file, source, "M-31")
        elif key == "permissions" and below and below[0] in VERDICTS and _is_list(setting):
            if field in rules:
                yield _rule(rules[field], file, source)
        elif key in ("permissions", "env") and setting.value == {} and field == join("$", key):
            continue
        else:
            path = (
                join(join("$", key), below[0]) if key in ("permissions", "env") and below else join("$", key)
            )
            if path not in seen:
                seen.add(path)
                yield _value(setting, path, file, source)


def _is_list(setting: Setting) -> bool:
    return setting.element or setting.value == []


def _value(setting: Setting, path: str, file: str, source: SourceName) -> Element:
    """A key that is not a rule, hook or server. `setting` is the first value at `path` or below."""
    line = setting.origin.line
    key, *below = undotted(setting.name)
    if key == "env" and below:
        return env_element(below[0], file, _lines(path), "settings.json", line)
    if path in ("$.defaultMode", "$.permissions.defaultMode") and path == setting.origin.field:
        return _mode(setting, path, file, source)
    if path == "$.apiKeyHelper":
        return cleaned(
            Element(
                source_file=file,
                source_lines=_lines(path),
                tag="NO_DECOMPOSE",
                category="—",
                content_summary="A helper that prints an API key; never run",
                dialect_rule_id="claude_code:2g:api_key_helper",
                signal="settings.apiKeyHelper",
                source=source,
                sensitive=True,
                line=line,
            )
        )
    name = f"{key}.{below[0]}" if key == "permissions" and below else key
    return cleaned(
        Element(
            source_file=file,
            source_lines=_lines(path),
            tag="NO_DECOMPOSE",
            category="—",
            content_summary=f"Setting `{name}`: no counterpart in the package",
            dialect_rule_id="claude_code:2c:settings_json",
            signal=f"settings.{name}",
            source=source,
            line=line,
        )
    )


def _lines(path: str) -> str:
    return "json:" + path.removeprefix("$").removeprefix(".")


def _rule(rule: Rule, file: str, source: SourceName) -> Element:
    if not rule.tool:
        return cleaned(
            Element(
                source_file=file,
                source_lines=_lines(rule.origin.field or ""),
                tag="NO_DECOMPOSE",
                category="—",
                content_summary=f"A rule of `{rule.verdict}` that matches nothing: {rule.problem}",
                dialect_rule_id=f"claude_code:2c:permissions_{rule.verdict}",
                signal=f"settings.permissions.{rule.verdict}:",
                source=source,
                line=rule.origin.line,
            )
        )
    row = ROWS[_RULE_ROWS[rule.verdict]]
    secret = looks_secret(rule.text) or (source == "local" and is_personal(rule.text))
    shown = "a private rule" if secret else redact_text(rule.text)
    return cleaned(
        Element(
            source_file=file,
            source_lines=_lines(rule.origin.field or ""),
            tag=row.tag,
            category=row.category,
            content_summary=f"{_SUMMARIES[rule.verdict]} {shown}",
            content_full="" if secret else rule.text,
            dialect_rule_id=f"claude_code:2c:permissions_{rule.verdict}",
            row=row.id,
            signal=f"settings.permissions.{rule.verdict}:{shown}",
            source=source,
            sensitive=secret,
            details=RuleDetails(behavior=rule.verdict),
            line=rule.origin.line,
        )
    )


def _mode(setting: Setting, path: str, file: str, source: SourceName) -> Element:
    row = ROWS["M-32"]
    return cleaned(
        Element(
            source_file=file,
            source_lines=_lines(path),
            tag=row.tag,
            category=row.category,
            content_summary=f"Permission mode {scalar(setting.value)}",
            content_full=scalar(setting.value),
            dialect_rule_id="claude_code:2c:default_mode",
            row=row.id,
            signal="settings.defaultMode",
            source=source,
            line=setting.origin.line,
        )
    )


def env_element(name: str, file: str, lines: str, source: SourceName, line: int | None = None) -> Element:
    row = ROWS["M-29"]
    return cleaned(
        Element(
            source_file=file,
            source_lines=lines,
            tag=row.tag,
            category=row.category,
            content_summary=f"Environment variable {name}",
            content_full=name,
            dialect_rule_id="claude_code:2g:env",
            row=row.id,
            signal=f"env:{name}",
            source=source,
            sensitive=is_secret_name(name),
            line=line,
        )
    )


def group_of(hook: Hook) -> str:
    """The path of a handler's matcher group."""
    return _HANDLER.sub("", hook.origin.field or "")


def hook_elements(hooks: Iterable[Hook], file: str, source: SourceName, row_id: str) -> Iterator[Element]:
    """One element per matcher group; its line is that of the first handler."""
    row = ROWS[row_id]
    groups: dict[str, list[Hook]] = {}
    for hook in hooks:
        groups.setdefault(group_of(hook), []).append(hook)
    for path, members in groups.items():
        first = members[0]
        matcher = redact_text(first.matcher or "")
        yield cleaned(
            Element(
                source_file=file,
                source_lines=path if path.startswith("frontmatter.") else _lines(path),
                tag=row.tag,
                category=row.category,
                content_summary=f"{first.event} hook" + (f" for {matcher}" if matcher else ""),
                dialect_rule_id="claude_code:2c:hooks",
                row=row.id,
                signal=f"hooks.{first.event}:{matcher}",
                source=source,
                details=HookDetails(
                    event=first.event,
                    matcher=matcher,
                    handlers=tuple(hook.type for hook in members),
                    lines=tuple(hook.origin.line for hook in members if hook.origin.line is not None),
                ),
                line=first.origin.line,
            )
        )


def server_element(server: Server, file: str, source: SourceName, row_id: str) -> Element:
    row = ROWS[row_id]
    return cleaned(
        Element(
            source_file=file,
            source_lines=_lines(server.origin.field or ""),
            tag=row.tag,
            category=row.category,
            content_summary=f"MCP server {server.name}",
            content_full=server.name,
            dialect_rule_id="claude_code:2d:mcp_server",
            row=row.id,
            signal=f"mcp:{server.name}",
            source=source,
            details=ServerDetails(server=server.name),
            line=server.origin.line,
        )
    )


def plugin_elements(plugin: Plugin, file: str) -> Iterator[Element]:
    """Name, version and dependencies of a plugin."""
    yield _plugin("name", plugin.name, plugin.where("name"), file, row="M-34")
    if plugin.version is not None:
        yield _plugin("version", plugin.version, plugin.where("version"), file)
    for index, one in enumerate(plugin.dependencies):
        text = scalar(one.get("name") if isinstance(one, dict) else one)
        yield cleaned(
            Element(
                source_file=file,
                source_lines=f"json:dependencies[{index}]",
                tag="CONFIG",
                category="C8",
                content_summary=f"Plugin dependency {text}",
                content_full=text,
                dialect_rule_id="claude_code:2e:plugin_json",
                row="M-35",
                signal=f"plugin.dependencies:{text}",
                line=plugin.where("dependencies").line,
            )
        )


def _plugin(key: str, text: str, origin: Origin, file: str, row: str | None = None) -> Element:
    return cleaned(
        Element(
            source_file=file,
            source_lines=f"json:{key}",
            tag="CONFIG",
            category="C8",
            content_summary=f"Plugin {key} {text}",
            content_full=text,
            dialect_rule_id="claude_code:2e:plugin_json",
            row=row,
            signal=f"plugin.{key}",
            line=origin.line,
        )
    )


def env_names(text: str) -> list[tuple[int, str]]:
    """(line, name) of every variable of a dotenv file. It does not look at the text after the `=`."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=", line)
        if match:
            found.append((number, match[1]))
    return found
