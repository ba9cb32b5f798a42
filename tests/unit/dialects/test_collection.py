from __future__ import annotations

from pathlib import Path

from checkrein.dialects.codes import Log
from checkrein.dialects.collection import collect
from checkrein.facts.agents import Files, find_target


def write(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)


def test_only_places_of_the_dialect_are_read(tmp_path: Path) -> None:
    target = find_target("cursor")
    assert target is not None
    write(tmp_path, ".cursor/rules/deep/a.mdc", ".cursor/rules/a.txt", ".cursor/skills/x/SKILL.md")
    write(
        tmp_path, ".cursor/skills/x/deep/SKILL.md", "AGENTS.md", "sub/AGENTS.md", "node_modules/x/AGENTS.md"
    )
    write(tmp_path, ".cursorrules", "sub/.cursorrules", "CLAUDE.md")
    log = Log()
    here = {".cursor/rules/deep/a.mdc", ".cursor/skills/x/SKILL.md", "AGENTS.md", ".cursorrules"}
    assert set(collect(str(tmp_path), target.files, log, directories=[""])) == here
    assert set(collect(str(tmp_path), target.files, log)) == {*here, "sub/AGENTS.md"}
    assert log == []


def test_a_file_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "opencode.json").mkdir()
    log = Log()
    assert collect(str(tmp_path), Files(servers=("opencode.json",)), log) == {}
    assert [found.code for found in log] == ["FILE002"]
