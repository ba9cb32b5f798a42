"""A desk to call tools at: a project, a session's state, and what the gate would have approved."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checkrein.llm.cancel import Cancel
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.tools.catalog import find
from checkrein.runtime.tools.desk import ToolState
from checkrein.runtime.tools.port import ToolContext, ToolFailure, ToolOutput
from checkrein.runtime.tools.validate import coerce


class Desk:
    def __init__(self, root: Path, results: Path, spawner: Spawner) -> None:
        self.root = root
        self.results = results
        self.state = ToolState((str(root),))
        self.cancel = Cancel()
        self.env = {"PATH": os.environ["PATH"], "HOME": str(root), "LANG": "C.UTF-8"}
        self._spawner = spawner
        self._calls = 0

    def context(self, approved: tuple[str | Path, ...] = (), **more: Any) -> ToolContext:
        self._calls += 1
        return ToolContext(
            **{
                "call_id": f"toolu_{self._calls}",
                "cwd": self.state.cwd,
                "root": str(self.root),
                "home": str(self.root),
                "add_dirs": (),
                "results_dir": str(self.results),
                "session_id": "a-session",
                "env": self.env,
                "spawner": self._spawner,
                "state": self.state,
                "cancel": self.cancel,
                "emit": lambda event: None,
                "approved_paths": tuple(os.path.realpath(self.root / path) for path in approved),
                **more,
            }
        )

    def run(
        self, name: str, input: dict[str, Any], approved: tuple[str | Path, ...] = (), **more: Any
    ) -> ToolOutput:
        tool = find(name)
        assert tool is not None
        checked, problem = coerce(tool.declaration, input)
        assert problem is None, problem
        return tool.run(checked, self.context(approved, **more))

    def text(
        self, name: str, input: dict[str, Any], approved: tuple[str | Path, ...] = (), **more: Any
    ) -> str:
        content = self.run(name, input, approved, **more).content
        assert isinstance(content, str)
        return content

    def failure(
        self, name: str, input: dict[str, Any], approved: tuple[str | Path, ...] = (), **more: Any
    ) -> str:
        with pytest.raises(ToolFailure) as raised:
            self.run(name, input, approved, **more)
        return raised.value.message

    def bash(self, command: str, **more: Any) -> str:
        return self.text("Bash", {"command": command, **more})

    def read(self, path: str, **more: Any) -> ToolOutput:
        return self.run("Read", {"file_path": path, **more}, (path,))

    def file(self, name: str, content: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    root = tmp_path / "project"
    root.mkdir()
    with Spawner(lambda origin: True) as spawner:
        yield Desk(Path(os.path.realpath(root)), tmp_path / "results", spawner)
