"""Bodies: the placeholders in a text, in the form of the other agent."""

from __future__ import annotations

import re

from checkrein.dialects.generic.written import Ledger
from checkrein.facts.agents import BodyForm

_TEMPLATE = re.compile(r"\{\{[^{}\n]{0,80}\}\}|\{%[^{}\n]{0,80}%\}")
_ARGUMENTS = re.compile(r"(?<!\\)\$ARGUMENTS(?!\[|\w)")
_POSITION = re.compile(r"(?<!\\)\$(?:ARGUMENTS\[(\d+)\]|(\d+)(?!\w))")
_SHELL = re.compile(r"(?m)(?<!\S)!`([^`\n]+)`")
_SHELL_BLOCK = re.compile(r"(?m)^```!")
_VARIABLE = re.compile(r"\$\{CLAUDE_\w+\}")
_FILE = re.compile(r"(?m)(?<!\S)@((?:\.{0,2}/|~/)?(?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z]\w{0,7})(?![\w/])")
_SKILL_DIR = "${CLAUDE_SKILL_DIR}"


def convert(body: str, form: BodyForm, ledger: Ledger, names: tuple[str, ...] = ()) -> str:
    """The body in the agent's own form. What has no form there stays unchanged and is listed."""
    remarks: list[str] = []
    text = _arguments(body, form, remarks)
    text = _injections(text, form, remarks)
    if not form.variables and "${CLAUDE_" in text:
        text = text.replace(f"{_SKILL_DIR}/", "").replace(_SKILL_DIR, ".")
        rest = sorted(set(_VARIABLE.findall(text)))
        remarks.append(
            f"{', '.join(rest)} is not replaced there" if rest else "paths are relative to the skill there"
        )
    if names and not form.names:
        used = [name for name in names if re.search(rf"\${re.escape(name)}\b", body)]
        if used:
            remarks.append(
                "named arguments are not replaced there: " + ", ".join(f"${name}" for name in used)
            )
    if ledger.target.command is not None and ledger.target.command.form == "recipe":
        others = sorted({found[0] for found in _TEMPLATE.finditer(text) if found[0] != form.whole})
        if others:
            remarks.append(f"{', '.join(others[:3])} is part of a template there, and nothing defines it")
    if remarks:
        ledger.approximated("body", f"the text of {ledger.subject}: " + "; ".join(remarks))
    elif body:
        ledger.kept("body")
    return text


def _arguments(body: str, form: BodyForm, remarks: list[str]) -> str:
    if form.whole != "$ARGUMENTS" and form.whole in body:
        remarks.append(f"a literal `{form.whole}` is replaced by the arguments there")
    if "$" not in body:
        return body
    if form.positions is not None and form.positions != 0:
        base = form.positions
        body = _POSITION.sub(lambda found: f"${int(found[1] or found[2]) + base}", body)
    elif form.positions is None and _POSITION.search(body):
        remarks.append("single arguments such as $0 are not replaced there")
    return _ARGUMENTS.sub(lambda _: form.whole, body) if form.whole != "$ARGUMENTS" else body


def _injections(body: str, form: BodyForm, remarks: list[str]) -> str:
    for template, ours in ((form.shell, "!`"), (form.file, "@")):
        opening = "" if template is None else template.format(command="\0", path="\0").partition("\0")[0]
        if opening not in ("", ours) and opening in body:
            remarks.append(f"a literal `{opening}` starts an injection there")
    if "!`" in body and _SHELL.search(body):
        if form.shell is None:
            remarks.append("commands in !`…` are not run there")
        elif not form.shell.startswith("!`"):
            shell = form.shell
            body = _SHELL.sub(lambda found: shell.format(command=found[1]), body)
    if _SHELL_BLOCK.search(body) and not form.variables:
        remarks.append("```! blocks are not run there")
    if "@" in body and form.file != "@{path}" and _FILE.search(body):
        if form.file is None:
            remarks.append("files named with @ are not attached there")
        else:
            file = form.file
            body = _FILE.sub(lambda found: file.format(path=found[1]), body)
    return body
