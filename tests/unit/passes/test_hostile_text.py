"""Text that is made to be slow costs a check no more than its length."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import checkrein

SIZE = 100_000
TEXTS: dict[str, Callable[[int], str]] = {
    "ticks": lambda size: "a " + "`" * size + "x",
    "open spans": lambda size: "`a``" * (size // 4),
    "open links": lambda size: "](<./aa.md#a" * (size // 12),
    "paths": lambda size: "scripts/a." * (size // 10),
    "imports": lambda size: "`@./a" + "[" * size,
    "variables": lambda size: "${A:-" * (size // 5),
}


def _seconds(base: Path, text: str) -> float:
    skill = base / ".claude" / "skills" / "demo" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    head = json.dumps({"name": "demo", "description": "d", "license": text[:SIZE]})
    skill.write_text(f"---\n{head}\n---\n\n{text}\n", "utf-8")
    (base / "CLAUDE.md").write_text(text, "utf-8")
    servers = {"mcpServers": {"a": {"command": "x", "args": [text], "env": {"A": text}}}}
    (base / ".mcp.json").write_text(json.dumps(servers), "utf-8")
    began = time.process_time()
    checkrein.check(checkrein.load(base, env={"HOME": str(base / "home")}))
    return time.process_time() - began


@pytest.mark.untraced
@pytest.mark.parametrize("kind", TEXTS)
def test_a_check_of_hostile_text_is_linear(tmp_path: Path, kind: str) -> None:
    spent = _seconds(tmp_path / "whole", TEXTS[kind](SIZE))
    assert spent < 4 or spent < 9 * _seconds(tmp_path / "quarter", TEXTS[kind](SIZE // 4))
