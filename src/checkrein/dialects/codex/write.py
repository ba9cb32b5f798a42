"""Source items -> OpenAI Codex's files."""

from __future__ import annotations

from checkrein.dialects.generic.write import write_for
from checkrein.dialects.generic.written import Options, Written
from checkrein.model.project import Sources


def write(sources: Sources, options: Options) -> Written:
    """Commands and skills become skills, agents TOML files, servers entries of config.toml."""
    return write_for("codex", sources, options)
