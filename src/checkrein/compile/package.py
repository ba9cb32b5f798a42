"""`compile_spec`: a spec in, the files of a package out. It writes nothing."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, to_builtins

from checkrein import __version__
from checkrein.base.diagnostic import Diagnostic
from checkrein.base.errors import CheckreinError
from checkrein.base.secrets import looks_secret, redact_text
from checkrein.compile import documents, plan
from checkrein.compile.artifacts import LintResult, encode
from checkrein.compile.blueprint import Blueprint, draw
from checkrein.compile.classify import classify
from checkrein.compile.coverage import lines_of
from checkrein.compile.emit import emit_code
from checkrein.compile.inventory import take_inventory
from checkrein.compile.lint import lint
from checkrein.compile.mapping import map_elements
from checkrein.compile.plan import Ask, Mode, Override
from checkrein.compile.scope import WorkspaceScope
from checkrein.compile.values import Classification, Inventory, PlanEntry
from checkrein.compile.values import Mapping as ElementMapping
from checkrein.compile.workspace import open_spec
from checkrein.compile.write import with_lock
from checkrein.facts import compile as facts

if TYPE_CHECKING:
    from checkrein.compile.advice import Advised
    from checkrein.compile.advisor import Advisor

INTERMEDIATE = "intermediate"


class Options(Struct, frozen=True, kw_only=True):
    """How to compile. `scopes` may add `local` and `user` to `project`; `host` may be `local`. Without a
    `workspace_scope` the place of the spec decides how far compile looks."""

    scopes: tuple[str, ...] = ("project",)
    workspace_scope: WorkspaceScope | None = None
    mode: Mode = "auto"
    overrides: tuple[Override, ...] = ()
    runtime: str | None = None
    contributors: tuple[str, ...] = ()
    host: str | None = None


class Compiled(Struct, frozen=True, kw_only=True):
    """`files` maps paths below the output directory to bytes, sorted."""

    package: str
    files: dict[str, bytes]
    inventory: Inventory
    classification: Classification
    mappings: tuple[ElementMapping, ...]
    plan: tuple[PlanEntry, ...]
    blueprint: Blueprint
    lints: tuple[LintResult, ...]
    warnings: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def compile_spec(
    path: str | os.PathLike[str],
    options: Options | None = None,
    *,
    env: Mapping[str, str] | None = None,
    ask: Ask | None = None,
    advisor: Advisor | None = None,
) -> Compiled:
    """Run every step from classification to documents. Raises CheckreinError without a spec
    (`spec_not_found`), for contradicting axes (`classification_halt`) and for `strict` with open ends. It
    asks an `advisor` about what the rules are not sure of or leave open; its failures are warnings."""
    options = options or Options()
    spec = open_spec(
        os.fspath(path),
        env=os.environ if env is None else env,
        runtime=options.runtime,
        contributors=options.contributors,
    )
    inventory = take_inventory(spec, options.scopes, options.workspace_scope)
    advised = None
    if advisor is not None:
        from checkrein.compile.advice import advise

        advised = advise(inventory, advisor)
        inventory = advised.inventory
    classification = classify(inventory, options.runtime)
    if classification.halt is not None:
        raise CheckreinError(f"{spec.file}: {classification.halt}.", kind="classification_halt")
    chat = classification.modality == "conversational_session"
    if advised is not None and advisor is not None:
        from checkrein.compile.drafter import draft

        advised = draft(advised, advisor, chat=chat)
        inventory = advised.inventory
    mappings = map_elements(inventory.elements, chat=chat, streaming=classification.modality == "streaming")
    entries = plan.audit(inventory.elements, mappings)
    decided = plan.decide(
        entries, options.mode, overrides=options.overrides, ask=ask, sources=_sources(inventory, entries)
    )
    blueprint = draw(
        inventory,
        classification,
        mappings,
        decided,
        local_host=options.host == "local",
        samples=advised.samples if advised is not None else (),
    )
    mode = "config" if options.overrides and options.mode == "auto" else options.mode
    removed = {one for entry in decided if entry.disposition == "remove" for one in entry.source_elements}
    made = tuple(one for one in mappings if one.element_id not in removed)
    files = _files(inventory, classification, mappings, decided, blueprint, mode, advised)
    lints = lint(blueprint.package, files, inventory.elements, made, suspicious=inventory.suspicious)
    files[f"{blueprint.package}/{INTERMEDIATE}/step_7_report.json"] = _lint_report(lints)
    return Compiled(
        package=blueprint.package,
        files=with_lock(blueprint.package, files),
        lints=tuple(lints),
        inventory=inventory,
        classification=classification,
        mappings=mappings,
        plan=decided,
        blueprint=blueprint,
        warnings=(*inventory.notes.warnings, *classification.warnings, *_host_warnings(options, blueprint)),
        diagnostics=inventory.diagnostics,
    )


def _host_warnings(options: Options, blueprint: Blueprint) -> tuple[str, ...]:
    needless = options.host == "local" and not blueprint.local_host
    return ("--host local has nothing to do: the spec has no tool and no rule",) if needless else ()


def _lint_report(lints: Sequence[LintResult]) -> bytes:
    blocking = sum(one.verdict == "fail" for one in lints)
    report = {
        "format_version": facts.FORMAT_VERSION,
        "overall_verdict": "fail" if blocking else "pass",
        "blocking_failures": blocking,
        "warnings": sum(one.verdict == "warning" for one in lints),
        "lints": [to_builtins(one) for one in lints],
    }
    return encode("step_7_report.json", report).encode()


def _sources(inventory: Inventory, entries: Sequence[PlanEntry]) -> dict[str, tuple[str, ...]]:
    by_id = {e.element_id: e.place for e in inventory.elements}
    return {entry.entry_id: tuple(by_id[one] for one in entry.source_elements) for entry in entries}


def _files(
    inventory: Inventory,
    classification: Classification,
    mappings: tuple[ElementMapping, ...],
    decided: tuple[PlanEntry, ...],
    b: Blueprint,
    mode: str,
    advised: Advised | None,
) -> dict[str, bytes]:
    web = [e for e in inventory.elements if e.row == "M-09"]
    web_source = ", ".join(e.place for e in web[:1])
    texts: dict[str, str] = emit_code(
        b,
        loaded=_loaded(inventory, mappings, b.loads),
        web_source=web_source,
        spec_text=_spec_text(inventory),
        told_lines=_told_lines(inventory, mappings, b),
    )
    root = b.package
    texts[f"{root}/README.md"] = documents.readme(b, inventory)
    texts[f"{root}/SETUP.md"] = documents.setup(b, inventory)
    texts[f"{root}/mapping_report.md"] = documents.report(
        b, inventory, classification, mappings, decided, mode
    )
    manifest = documents.manifest(b, classification, decided, __version__)
    if advised is not None:
        manifest |= advised.manifest()
        texts[f"{root}/{INTERMEDIATE}/model_advice.json"] = encode("model_advice.json", advised.file())
    texts[f"{root}/melleafy.json"] = encode("melleafy.json", manifest)
    for name, value in documents.artifacts(inventory, classification, mappings, decided, mode).items():
        texts[f"{root}/{INTERMEDIATE}/{name}"] = encode(name, value)
    if inventory.license_text is not None:
        texts["LICENSE"] = inventory.license_text
    if inventory.suspicious:
        texts = {path: redact_text(text) for path, text in texts.items()}
    files = {path: text.encode("utf-8", "replace") for path, text in texts.items()}
    for path, data in inventory.companions:
        files.setdefault(f"{root}/{path}", data)
    return dict(sorted(files.items()))


def _spec_text(inventory: Inventory) -> str:
    """The body of the spec on its own lines; nothing when it may hold a secret, or is not Markdown."""
    spec = inventory.spec
    if looks_secret(spec.body) or not spec.path.endswith(".md"):
        return ""
    return "\n" * (spec.body_line - 1) + spec.body.replace("\r\n", "\n").replace("\r", " ")


def _told_lines(
    inventory: Inventory, mappings: tuple[ElementMapping, ...], b: Blueprint
) -> tuple[tuple[int, int], ...]:
    """The lines of the spec that the program tells the model, or a person."""
    rules = {one.element_id for one in mappings if one.primitive == "Requirement"}
    found: list[tuple[int, int]] = []
    for element in inventory.elements:
        lines = lines_of(element.source_lines)
        told = element.step is not None or element.element_id in rules or element.element_id in b.program.told
        loads = element.tag in ("SCHEMA", "TOOL_INPUT") or element.prose.carried
        if element.source_file == inventory.spec.file and lines and told and not loads and not b.loads:
            found.append((lines.start, lines.stop - 1))
    return tuple(found)


def _loaded(
    inventory: Inventory, mappings: tuple[ElementMapping, ...], loads: Collection[str]
) -> dict[str, str]:
    by_id = {e.element_id: e for e in inventory.elements}
    found: dict[str, str] = {}
    for name in loads:
        members = [
            by_id[m.element_id].content_full
            for m in mappings
            if m.target_symbol == name and m.element_id in by_id
        ]
        found[f"{name.lower()}.md"] = "\n\n".join(members) + "\n"
    return found
