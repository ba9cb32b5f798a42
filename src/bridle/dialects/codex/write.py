"""Source items -> OpenAI Codex's files."""

from __future__ import annotations

from bridle.dialects.generic.write import write_for
from bridle.dialects.generic.written import Options, Written
from bridle.model.project import Sources


def write(sources: Sources, options: Options) -> Written:
    """Commands and skills become skills, agents TOML files, servers entries of config.toml."""
    return write_for("codex", sources, options)
