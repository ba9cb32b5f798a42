"""Source items -> Qwen Code's files."""

from __future__ import annotations

from checkrein.dialects.generic.write import write_for
from checkrein.dialects.generic.written import Options, Written
from checkrein.model.project import Sources


def write(sources: Sources, options: Options) -> Written:
    """Hooks (in milliseconds) and servers share settings.json."""
    return write_for("qwen", sources, options)
