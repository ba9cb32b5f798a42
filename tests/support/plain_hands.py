"""Hands without a session: commands run as they are, and the test says what is configured."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from checkrein.facts.config import KEYS
from checkrein.llm.cancel import Cancel
from checkrein.serve.mcp.hands import Hands, Ran
from checkrein.serve.mcp.shift import Shift
from support.repositories import GIT_ENV

FAKE_GH = """#!{python}
import json, os, sys
with open({log!r}, "a") as log:
    log.write(json.dumps([sys.argv[1:], os.environ.get("GH_TOKEN")]) + "\\n")
answers = json.load(open({answers!r}))
words = " ".join(sys.argv[1:])
for start, said in answers.items():
    if words.startswith(start):
        if isinstance(said, list) and said and said[0] == "turns":
            said = said[1:]
            answers[start] = ["turns", *(said[1:] or said)]
            json.dump(answers, open({answers!r}, "w"))
            said = said[0]
        if isinstance(said, str) and said.startswith("!"):
            sys.exit(said[1:])
        print(said if isinstance(said, str) else json.dumps(said))
        sys.exit(0)
sys.exit("no answer for " + words)
"""
"""A `gh` that answers from a table by its first words; `!` before a text makes it fail."""


class PlainHands(Hands):
    def __init__(self, root: Path, shift: Shift | None = None, **settings: Any) -> None:
        self.shift = shift or Shift()
        self.settings = {name.replace("__", "."): value for name, value in settings.items()}
        self.ran: list[str] = []
        self.asked: list[str] = []
        self.model_says = "NONE"
        self._root = str(root.resolve())
        env = {**GIT_ENV, "CHECKREIN_HOME": str(root.parent / "home")}
        self.env = env
        self.context: Any = SimpleNamespace(env=env, home=str(root.parent), cancel=Cancel())

    @property
    def root(self) -> str:
        return self._root

    def setting(self, name: str) -> Any:
        return self.settings.get(name, next(key.default for key in KEYS if key.name == name))

    def command_setting(self, name: str) -> str | None:
        found: str | None = self.setting(name)
        return found

    def shell(
        self, text: str, cwd: str, timeout: float | None = None, env: dict[str, str] | None = None
    ) -> Ran:
        self.ran.append(text)
        done = subprocess.run(
            ["bash", "-c", text],
            cwd=self.directory(cwd),
            env={**self.env, **(env or {})},
            capture_output=True,
            text=True,
            timeout=60,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def ask_model(self, system: str, text: str, model: str) -> str:
        self.asked.append(text)
        return self.model_says

    def _may(self, tool: str, input: dict[str, Any]) -> None:
        self.ran.append(f"{tool} {input['file_path']}")


def with_gh(hands: PlainHands, folder: Path, answers: dict[str, Any]) -> Path:
    """Put a `gh` with these answers on the path. Returns its log."""
    import json
    import sys

    folder.mkdir(exist_ok=True)
    log, table = folder / "log", folder / "answers.json"
    table.write_text(json.dumps(answers))
    program = folder / "gh"
    program.write_text(FAKE_GH.format(python=sys.executable, log=str(log), answers=str(table)))
    program.chmod(0o755)
    hands.env["PATH"] = f"{folder}{os.pathsep}{hands.env['PATH']}"
    return log
