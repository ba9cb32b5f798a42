"""Source items -> Amp's files."""

from __future__ import annotations

from checkrein.dialects.generic.write import write_for
from checkrein.dialects.generic.written import Options, Written
from checkrein.model.project import Sources


def write(sources: Sources, options: Options) -> Written:
    """Servers and permission rules share settings.json."""
    return write_for("amp", sources, options)
