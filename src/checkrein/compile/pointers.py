"""Lines that only point to more text."""

from __future__ import annotations

import re

from checkrein.compile.headings import is_marked, role_under
from checkrein.compile.passage import Passage
from checkrein.facts import compile_words as words

_LINK_ONLY = re.compile(
    r"^(?:\[[^\]]*\]\([^)]*\)|https?://\S+|`[^`]*\.(?:mdx?|txt|pdf|html?|rst)`|`[^`]*/[^`]*\.\w+`)[\s.,:;–—-]*",
    re.ASCII,
)
_FILE_KEY = re.compile(r"^\*\*[\w./-]+\.\w{1,10}\*\*", re.ASCII)
_SCRIPT = re.compile(r"^\W*scripts/\S+\s[\s:–—-]*\w")


def points_elsewhere(passage: Passage) -> bool:
    """Whether a line only points to more text."""
    text = passage.text.strip()
    if passage.block.first or words.CONDITION.match(passage.clean) or words.PROJECT_FILE.match(text):
        return False
    if is_marked(passage.block.path, "folder"):
        return False
    links = bool(passage.block.path) and role_under(passage.block.path[-1:]) == "links"
    if links and passage.item and (_FILE_KEY.match(text) or is_marked(passage.block.path, "related")):
        return True
    marked = "/" in text or "`" in text or "](" in text
    if len(passage.clean) > 300 or not marked or not words.PATH_OR_LINK.search(text):
        return links and text.startswith(("`", "[", "http", "**`", "**["))
    if passage.item and passage.line.rest.startswith(("http", "<http")) and " " not in passage.line.rest:
        return True
    if passage.item and _LINK_ONLY.match(text.lstrip("*-• ")) and not _SCRIPT.match(text):
        return "example" not in passage.above
    told = passage.line.rest if words.SOURCE_KEYS.match(passage.line.key) else passage.clean
    if words.LOOKS.match(told) and not words.DOCUMENT.search(text):
        return False
    return words.POINTER.match(told) is not None or words.LIVES_IN.search(passage.clean) is not None
