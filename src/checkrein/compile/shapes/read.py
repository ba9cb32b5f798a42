"""Finds the notation of a text and its shapes; no text makes this fail."""

from __future__ import annotations

import re
from functools import lru_cache

from checkrein.compile.shapes.tree import Shapes, UnfitError

MAX_TEXT = 40_000
JSON = frozenset({"json", "jsonc", "json5", "jsonschema"})
YAML = frozenset({"yaml", "yml"})
TYPESCRIPT = frozenset({"typescript", "ts"})
PYTHON = frozenset({"python", "py"})
_OUTPUT = re.compile(
    r"\b(?:outputs?|responses?|replies|answers?|results?|returns?|reports?|schemas?|deliverables?|contracts?|shapes?)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=64)
def read_shapes(text: str, language: str, heading: str) -> Shapes | None:
    """The shapes in a block; None when it does not fit and stays text. No language means a table.

    A YAML sample counts only right under a heading on output: most YAML in a spec is somebody's settings.
    """
    if not text.strip() or len(text) > MAX_TEXT:
        return None
    try:
        if language in JSON:
            return _json(text)
        if language in TYPESCRIPT:
            from checkrein.compile.shapes.typescript import read_typescript

            return read_typescript(text)
        if language in PYTHON:
            from checkrein.compile.shapes.python_classes import read_python

            return read_python(text)
        if language in YAML:
            return _yaml(text) if _OUTPUT.search(heading) else None
        if not language and text.lstrip().startswith("|"):
            from checkrein.compile.shapes.tables import read_table

            return read_table(text)
    except (UnfitError, RecursionError):
        return None
    return None


def _json(text: str) -> Shapes:
    from checkrein.compile.shapes.jsonish import read_json

    return _document(read_json(text))


def _yaml(text: str) -> Shapes:
    from checkrein.base.frontmatter import load_block

    block = load_block(text)
    if block.error is not None or block.duplicates:
        raise UnfitError
    return _document(block.values)


def _document(value: object) -> Shapes:
    from checkrein.compile.shapes.json_schema import checked, from_schema, is_schema
    from checkrein.compile.shapes.samples import Sampler

    root = checked(value)
    if "apiVersion" in root and "kind" in root:  # somebody's manifest
        raise UnfitError
    return Shapes(from_schema(root) if is_schema(root) else Sampler().object(root))
