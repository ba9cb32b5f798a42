"""The test kit: models that answer from a script or a recording, so that projects can be tested offline.

In a `conftest.py`: `pytest_plugins = ["bridle.testing.plugin"]`. See docs/testing.md.
"""

from __future__ import annotations

from bridle.llm.record import RecordingModel
from bridle.llm.replay import ReplayModel
from bridle.llm.script import Call, Fault, Match, Script, Turn
from bridle.llm.scripted import ScriptedModel
from bridle.llm.server import Asked, ScriptedServer

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
