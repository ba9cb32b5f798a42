"""Source items -> opencode's files."""

from __future__ import annotations

from checkrein.dialects.generic.write import write_for
from checkrein.dialects.generic.written import Options, Written
from checkrein.model.project import Sources


def write(sources: Sources, options: Options) -> Written:
    """Rules become `permission`, servers `mcp` of opencode.json."""
    return write_for("opencode", sources, options)
