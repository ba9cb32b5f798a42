"""Text that is left over from a template."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import field

_LEFT_OVER = re.compile(
    r"(?-i:\bTODO\b|\bTBD\b|\bFIXME\b)|^\W*(?:todo|tbd|fixme)\W*$|\blorem ipsum\b"
    r"|\breplace (?:this|with)\b.{0,40}\bdescription\b"
    r"|^\s*(?:\[|<)(?:your |insert |add |skill )?(?:description|name)\b",
    re.IGNORECASE,
)


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        text = item.description or ""
        match = _LEFT_OVER.search(text)
        if match and not (match[0].isupper() and _is_topic(text, match[0])):
            origin = subject.find(field(item, "description"), match[0].strip())
            yield Finding(
                origin=origin, message=f"The description of `{item.name}` is left over from a template"
            )


def _is_topic(text: str, word: str) -> bool:
    """`Finds TODO comments` is about TODOs; `TODO: describe` is one."""
    return not re.search(rf"(?:^|[\[(<\"'.]\s*){word}\b(?![/,|])|{word}:", text)


CHECK = Check(
    code="AS023",
    name="template-left-over",
    severity="warning",
    summary="A skill's description still holds a template's placeholder.",
    why="The description says nothing, so the model can't choose the skill.",
    hint="Say what the skill does and when to use it.",
    bad={SKILL: skill(description='"TODO: describe when to use this skill"')},
    good={SKILL: skill(description="Finds TODO comments. Use when the user asks what is left to do.")},
    run=run,
    dialects="all",
)
