"""Source items -> Qwen Code's files."""

from __future__ import annotations

from bridle.dialects.generic.write import write_for
from bridle.dialects.generic.written import Options, Written
from bridle.model.project import Sources


def write(sources: Sources, options: Options) -> Written:
    """Hooks (in milliseconds) and servers share settings.json."""
    return write_for("qwen", sources, options)
