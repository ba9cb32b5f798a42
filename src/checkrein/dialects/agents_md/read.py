"""AGENTS.md files -> instructions, for a project that does not belong to a single agent."""

from __future__ import annotations

from checkrein.dialects.dialect import Tree
from checkrein.dialects.generic.readers import memory_files
from checkrein.model.project import Sources


def read(tree: Tree, root: str) -> Sources:
    return Sources(instructions=tuple(memory_files(tree, ("AGENTS.md",), root)))
