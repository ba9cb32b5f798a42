"""Instructions: always-on text, and rules for some paths."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

from checkrein.dialects.generic import emit, names
from checkrein.dialects.generic.written import File, Ledger, Options, Outcome
from checkrein.facts.agents import InstructionForm, Target
from checkrein.model.items import Instruction

COMMON = InstructionForm(file="AGENTS.md")
"""The file that most agents read; the default when nothing better is known."""


def write_instructions(
    items: Iterable[Instruction], target: Target, options: Options
) -> tuple[list[File], list[Outcome]]:
    """Every instruction of a project. Texts of one directory share one file, in their order."""
    form = target.instructions or COMMON
    items = tuple(items)
    sections: dict[str, list[str]] = {}
    files: list[File] = []
    outcomes: list[Outcome] = []
    taken: set[str] = set()
    places: dict[str, str] = {}
    once = _Once(items, form, options)
    for item in items:
        ledger = Ledger(target, "instruction", item, _shown_name(item, options))
        place = places.get(item.imported_by or "") or _place(item, form, options)
        places[item.name] = place
        if target.command is None:
            ledger.item_lost(f"{target.label} takes no instructions")
        elif once.is_there(item, place):
            _imports(item, form, ledger)
            ledger.kept("paths")
        elif item.kind == "rule" and form.rules is not None:
            name = _rule_name(item, taken)
            there = form.rules.format(name=name)
            text = _text(item, form, ledger, there, options.root)
            files.append(_rule_file(item, there, text, form, target, ledger))
        elif place in once.own and not once.is_own(item):
            ledger.item_lost(
                f"{ledger.subject} is not read by {target.label}: {place} belongs to the project, so deploy"
                " adds nothing to it; move the text there"
            )
        else:
            if target.instructions is None:
                said = f"{ledger.subject} went to {form.file}, which {target.label} is expected to read"
                ledger.approximated("", said)
            text = _text(item, form, ledger, place, options.root)
            sections.setdefault(place, []).append(_section(item, text, ledger))
        outcomes.extend(ledger.close())
    for path, texts in sections.items():
        files.append(File(path, emit.encode("\n".join(_ended(text) for text in texts))))
    return files, outcomes


class _Once:
    """Knows what the agent gets without deploy, or got already: a text is written once.

    `own` are files of the project that the agent reads under the name that deploy would write.
    """

    def __init__(self, items: Iterable[Instruction], form: InstructionForm, options: Options) -> None:
        self._form = form
        self._root = options.root
        self._imported = {item.origin.file for item in items if item.kind == "import"}
        self._written: set[tuple[str, str]] = set()
        self.own = {
            _place(item, form, options)
            for item in items
            if options.root and self._relative(item) == _place(item, form, options)
        }

    def is_there(self, item: Instruction, place: str) -> bool:
        path = self._relative(item)
        if path and any(fnmatchcase(path, name) for name in self._form.native):
            return True
        if self._form.imports and item.origin.file in self._imported:
            return True
        known = (place, item.origin.file)
        if item.kind != "rule" and known in self._written:
            return True
        self._written.add(known)
        return False

    def is_own(self, item: Instruction) -> bool:
        return self._relative(item) in self.own

    def _relative(self, item: Instruction) -> str:
        start = self._root.rstrip("/") + "/"
        file = item.origin.file.replace("\\", "/")
        return file.removeprefix(start) if self._root and file.startswith(start) else ""


def _imports(item: Instruction, form: InstructionForm, ledger: Ledger) -> None:
    if form.imports and item.imports:
        ledger.kept("imports")
    elif item.imports:
        shown = ", ".join(f"@{found.text.removeprefix('@')}" for found in item.imports)
        remark = "follows in the same file" if any(not found.skipped for found in item.imports) else "stays"
        ledger.approximated("imports", f"{shown} in {ledger.subject} is not expanded; its text {remark}")


def _text(item: Instruction, form: InstructionForm, ledger: Ledger, place: str, root: str) -> str:
    """The text for the file `place`. An import that the agent expands starts from there."""
    _imports(item, form, ledger)
    text = item.text
    there = os.path.dirname(os.path.join(root, place))
    if not form.imports or not root or there == os.path.dirname(item.origin.file):
        return text
    for found in item.imports:
        if found.target and os.path.realpath(found.target).startswith(os.path.realpath(root) + os.sep):
            path = os.path.relpath(found.target, there).replace(os.sep, "/")
            written = found.text.removeprefix("@")
            after = written.rpartition(os.path.basename(found.target))[2]
            new = f"@{path}{after}".replace("\\", r"\\")
            text = re.sub(rf"(?<!\S)@{re.escape(written)}(?!\S)", new, text)
    return text


def _section(item: Instruction, text: str, ledger: Ledger) -> str:
    if not item.paths:
        return text
    shown = ", ".join(f"`{path}`" for path in item.paths)
    ledger.approximated(
        "paths", f"{ledger.subject} applies to some paths only; there it is a section that says so"
    )
    return f"## For files that match {shown}\n\n{text}"


def _rule_file(
    item: Instruction, place: str, text: str, form: InstructionForm, target: Target, ledger: Ledger
) -> File:
    values = _scoped_values(form.scoped, item.paths)
    if item.paths:
        ledger.kept("paths")
    if form.rule_limit and len(text) > form.rule_limit:
        ledger.approximated(
            "text", f"{ledger.subject} is longer than the {form.rule_limit} characters read there"
        )
    return File(place, emit.markdown(values, text))


def _scoped_values(scoped: str | None, paths: tuple[str, ...]) -> dict[str, Any]:
    """Frontmatter of a rule file: the paths it applies to, or that it always applies."""
    if scoped == "copilot":
        return {"applyTo": ",".join(paths) or "**"}
    if scoped == "cursor":
        globs = {"globs": ",".join(paths)} if paths else {}
        return {**globs, "alwaysApply": not paths}
    if scoped == "windsurf":
        return {"trigger": "glob", "globs": ",".join(paths)} if paths else {"trigger": "always_on"}
    if scoped == "kiro":
        return (
            {"inclusion": "fileMatch", "fileMatchPattern": list(paths)} if paths else {"inclusion": "always"}
        )
    return {"paths": list(paths)} if paths else {}


def _rule_name(item: Instruction, taken: set[str]) -> str:
    stem = item.origin.file.replace("\\", "/").rpartition("/")[2].rpartition(".")[0]
    base = names.flat_name(stem.removesuffix(".instructions")) or "rule"
    name, number = base, 2
    while name.lower() in taken:
        name, number = f"{base}-{number}", number + 1
    taken.add(name.lower())
    return name


def _place(item: Instruction, form: InstructionForm, options: Options) -> str:
    """The file that gets the text: in the directory that the source is about."""
    folder = _relative_folder(item, options.root)
    if folder in ("", "."):
        return form.file
    leaf = form.nested or form.file.rpartition("/")[2]
    return f"{folder}/{leaf}"


def _relative_folder(item: Instruction, root: str) -> str:
    """The directory that an instruction is about, relative to the project; empty for the project itself."""
    folder = os.path.dirname(item.origin.file).replace("\\", "/")
    if os.path.isabs(folder):
        folder = os.path.relpath(folder, root).replace("\\", "/") if root else ""
    parts = [part for part in folder.split("/") if part not in (".", "")]
    for marker in (".claude", ".github"):
        if marker in parts:
            parts = parts[: parts.index(marker)]
    return "" if ".." in parts else "/".join(parts)


def _shown_name(item: Instruction, options: Options) -> str:
    if options.root and os.path.isabs(item.origin.file):
        return os.path.relpath(item.origin.file, options.root).replace("\\", "/")
    return item.name


def _ended(text: str) -> str:
    return text if text.endswith("\n") or not text else text + "\n"
