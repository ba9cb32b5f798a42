"""Source items -> the effective project: who wins each name, and why everyone else lost."""

from __future__ import annotations

from checkrein.passes.resolve.project import resolve

__all__ = ["resolve"]
