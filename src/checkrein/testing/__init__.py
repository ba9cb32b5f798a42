"""The test kit: models that answer from a script or a recording, for tests of projects without a network.

In a `conftest.py`: `pytest_plugins = ["checkrein.testing.plugin"]`. See docs/testing.md.
"""

from __future__ import annotations

from checkrein.llm.record import RecordingModel
from checkrein.llm.replay import ReplayModel
from checkrein.llm.script import Call, Fault, Match, Script, Turn
from checkrein.llm.scripted import ScriptedModel
from checkrein.llm.server import Asked, ScriptedServer

__all__ = [
    "Asked",
    "Call",
    "Fault",
    "Match",
    "RecordingModel",
    "ReplayModel",
    "Script",
    "ScriptedModel",
    "ScriptedServer",
    "Turn",
]
