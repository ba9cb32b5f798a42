"""Source items -> goose's files."""

from __future__ import annotations

from bridle.dialects.generic.write import write_for
from bridle.dialects.generic.written import Options, Written
from bridle.model.project import Sources


def write(sources: Sources, options: Options) -> Written:
    """Commands become recipes with one optional parameter."""
    return write_for("goose", sources, options)
