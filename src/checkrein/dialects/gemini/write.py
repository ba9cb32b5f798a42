"""Source items -> Gemini CLI's files."""

from __future__ import annotations

from checkrein.dialects.generic.write import write_for
from checkrein.dialects.generic.written import Options, Written
from checkrein.model.project import Sources


def write(sources: Sources, options: Options) -> Written:
    """Commands become TOML prompts; hooks and servers share settings.json."""
    return write_for("gemini", sources, options)
