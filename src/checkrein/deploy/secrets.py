"""Finds what looks like a secret in texts that deploy writes unchanged.

Values of servers, hooks and settings never get here: writers put a reference in place of a secret. Deploy
can't change a text without changing what it says, so a warning tells its author where to look.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.files import read_text
from checkrein.base.origin import Origin, Scope, Span
from checkrein.base.secrets import secret_lines
from checkrein.dialects.generic.loss_codes import CODES
from checkrein.dialects.generic.written import Attachment
from checkrein.model.project import Sources

CODE = "DEP015"


def secrets_in_texts(
    sources: Sources, attachments: Mapping[str, tuple[Attachment, ...]] | None = None
) -> Iterator[Diagnostic]:
    """A finding for each such line of instructions, skills, commands, agents and skills' other files."""
    files: dict[str, Scope] = {}
    for items in (sources.instructions, sources.skills, sources.commands, sources.agents):
        for item in items:
            files.setdefault(item.origin.file, item.origin.scope)
    for file, scope in files.items():
        yield from _found(read_text(file).text, file, scope)
    for skill in sources.skills:
        for extra in (attachments or {}).get(skill.directory, ()):
            if b"\0" not in extra.content[:8000]:
                text = extra.content.decode("utf-8", "replace")
                yield from _found(text, f"{skill.directory}/{extra.path}", skill.origin.scope)


def _found(text: str, file: str, scope: Scope) -> Iterator[Diagnostic]:
    for line in secret_lines(text):
        message = "this line seems to hold a secret; it is deployed as it is"
        yield Diagnostic(CODE, "warning", message, Origin(file, scope, Span(line)), hint=CODES[CODE].hint)
