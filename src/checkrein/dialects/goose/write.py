"""Source items -> goose's files."""

from __future__ import annotations

from checkrein.dialects.generic.write import write_for
from checkrein.dialects.generic.written import Options, Written
from checkrein.model.project import Sources


def write(sources: Sources, options: Options) -> Written:
    """Commands become recipes with one optional parameter."""
    return write_for("goose", sources, options)
