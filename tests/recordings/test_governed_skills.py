"""Rules of visibility in whole sessions: what the model reads about skills, and what it can load."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from checkrein.base.errors import ConfigError
from checkrein.llm.port import Text
from checkrein.model.project import SessionMode
from checkrein.passes.load import load, session_view
from checkrein.passes.visibility.bundled_skills import bundled_names
from checkrein.runtime.session.events import ToolFinished
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.runtime.trust import standing
from checkrein.testing import Call, ScriptedModel, Turn
from support.sessions import home

Write = Callable[[str, object], Path]
OK = Turn(text="ok")
OVERRIDE = "---\ndescription: Ours\n---\nOUR OWN TEXT\n"


def skill(body: str, **fields: str) -> str:
    head = "".join(f"{name}: {value}\n" for name, value in {"description": "d", **fields}.items())
    return f"---\n{head}---\n{body}\n"


class Scene:
    """A session of a mode, and what its model saw."""

    def __init__(
        self, project: Path, *wanted: str, mode: SessionMode = "plain", target: str | None = None
    ) -> None:
        turns = [Turn(tool_calls=(Call("Skill", {"skill": name}),)) for name in wanted]
        self.model = ScriptedModel((*turns, *(OK for _ in range(4))), idle=5)
        loaded = load(project, bundled=mode != "plain", detect=False)
        view = session_view(loaded, mode, target=target)
        options = Options(trust=True, allowed=("Skill",), persist=False)
        self.session = Session(view, model=self.model, options=options)

    def say(self, prompt: str = "go") -> list[ToolFinished]:
        return [event for event in self.session.run(prompt) if isinstance(event, ToolFinished)]

    def read(self) -> str:
        last = self.model.requests[-1].messages
        return "\n".join(b.text for m in last for b in m.content if isinstance(b, Text))

    def listed(self) -> set[str]:
        lines = self.read().splitlines()
        return {line[2:].partition(":")[0] for line in lines if line.startswith("- ")}


@pytest.fixture
def enter() -> Iterator[Callable[..., Scene]]:
    opened: list[Scene] = []

    def start(*args: object, **keywords: object) -> Scene:
        opened.append(Scene(*args, **keywords))  # type: ignore[arg-type]
        return opened[-1]

    yield start
    for one in opened:
        one.session.close()


Enter = Callable[..., Scene]


def test_without_a_configuration_nothing_is_added(project: Path, write: Write, enter: Enter) -> None:
    write(".claude/skills/mine/SKILL.md", skill("MINE"))
    scene = enter(project, "diagnose-ci")
    (refused,) = scene.say()
    assert scene.listed() & {"mine", "open-kitchen", *bundled_names()} == {"mine"}
    assert refused.is_error


def test_promotion_changes_what_the_model_sees_and_loads(project: Path, write: Write, enter: Enter) -> None:
    write("checkrein.toml", '[skills]\ntier1 = ["diagnose-ci"]\n')
    scene = enter(project, "diagnose-ci", "audit-tests")
    loaded, refused = scene.say()
    assert "diagnose-ci" in scene.listed()
    assert "audit-tests" not in scene.listed()
    assert (loaded.is_error, "decisive lines of the log" in str(loaded.content)) == (False, True)
    assert (refused.is_error, "tier 3" in str(refused.content)) == (True, True)


def test_demotion_hides_a_skill_of_the_project_from_model_and_user(
    project: Path, write: Write, enter: Enter
) -> None:
    write(".claude/skills/mine/SKILL.md", skill("MINE"))
    write(".claude/commands/also.md", skill("ALSO"))
    write("checkrein.toml", '[skills]\ntier2 = ["mine"]\ntier3 = ["also"]\n')
    scene = enter(project, "mine", "also")
    assert [(one.is_error, "tier" in str(one.content)) for one in scene.say()] == [(True, True)] * 2
    assert not {"mine", "also"} & scene.listed()
    scene.say("/mine")
    assert "MINE" not in scene.read()


@pytest.mark.parametrize("place", [".claude/skills", ".checkrein/skills"])
def test_req_ovr_001_an_override_is_detected_loaded_and_wins(
    project: Path, write: Write, enter: Enter, place: str
) -> None:
    write(f"{place}/diagnose-ci/SKILL.md", OVERRIDE)
    write("checkrein.toml", '[subsets]\ndisabled = ["telemetry"]\n')
    (loaded,) = enter(project, "diagnose-ci").say()
    assert "OUR OWN TEXT" in str(loaded.content)


def test_req_ovr_002_the_bundled_copy_is_gone_in_a_cook_session_too(
    project: Path, write: Write, enter: Enter
) -> None:
    write(".checkrein/skills/diagnose-ci/SKILL.md", OVERRIDE)
    (loaded,) = enter(project, "diagnose-ci", mode="cook").say()
    assert "OUR OWN TEXT" in str(loaded.content)
    assert "decisive lines" not in str(loaded.content)


def test_the_directory_that_every_agent_reads_wins_over_ours(project: Path, write: Write) -> None:
    write(".checkrein/skills/one/SKILL.md", skill("OURS"))
    write(".claude/skills/one/SKILL.md", skill("EVERYONE'S"))
    found = load(project).skills["one"]
    assert found.item.body.strip() == "EVERYONE'S"
    assert [one.lost is None for one in found.candidates] == [True, False]


def test_cook_sees_all_tiers_and_disabled_subsets(project: Path, write: Write, enter: Enter) -> None:
    write("checkrein.toml", '[subsets]\ndisabled = ["ci", "github"]\n')
    scene = enter(project, "diagnose-ci", mode="cook")
    assert not scene.say()[0].is_error
    assert {"audit-tests", "diagnose-ci", "lens-boundaries", "review-changes"} <= scene.listed()


def test_a_worker_sees_the_closure_and_can_only_be_told_of_other_skills(
    project: Path, write: Write, enter: Enter
) -> None:
    write(".claude/skills/work/SKILL.md", skill("WORK", activate_deps="[audit-tests, nowhere]"))
    scene = enter(project, "audit-tests", "lens-boundaries", "diagnose-ci", mode="headless", target="work")
    needed, quiet, hidden = scene.say()
    assert (needed.is_error, quiet.is_error, hidden.is_error) == (False, True, True)
    assert "Only the user" in str(quiet.content)
    assert "audit-tests" in scene.listed()
    assert not {"lens-boundaries", "diagnose-ci"} & scene.listed()
    scene.say("/lens-boundaries")
    assert "which part may know which" in scene.read()


def test_skills_that_appear_later_obey_the_rules_too(project: Path, write: Write, enter: Enter) -> None:
    write(".claude/skills/old/SKILL.md", skill("OLD"))
    write("checkrein.toml", '[skills]\ntier3 = ["late"]\n[subsets]\ndisabled = ["github"]\n')
    scene = enter(project)
    scene.say()
    write(".claude/skills/late/SKILL.md", skill("LATE", description="comes late"))
    write(".checkrein/skills/tagged/SKILL.md", skill("TAGGED", categories="[github]"))
    write(".claude/skills/fine/SKILL.md", skill("FINE", description="a fine one"))
    scene.say()
    assert "a fine one" in scene.read()
    assert "comes late" not in scene.read()
    assert "tagged" not in scene.listed()


def test_skills_of_nested_folders_obey_the_rules_too(project: Path, write: Write, enter: Enter) -> None:
    write(".claude/skills/old/SKILL.md", skill("OLD"))
    write("pkg/.claude/skills/deep/SKILL.md", skill("DEEP"))
    write("pkg/.claude/skills/open/SKILL.md", skill("OPEN"))
    write("checkrein.toml", '[skills]\ntier2 = ["deep"]\n')
    shelf = enter(project).session.conversation.skills.shelf
    assert [one.name for one in shelf.visit(str(project / "pkg"))] == ["open"]
    assert shelf.find("deep") is None


def test_a_child_sees_no_more_than_its_parent(project: Path, write: Write, enter: Enter) -> None:
    write(".claude/skills/mine/SKILL.md", skill("MINE"))
    write("checkrein.toml", '[skills]\ntier2 = ["mine"]\n')
    parent = enter(project).session.conversation.view
    whole = session_view(load(project, bundled=True), "cook")
    assert "mine" in whole.skills
    assert whole.under(parent).skills.keys() <= parent.skills.keys()


def test_req_tier_009_a_skill_in_two_tiers_stops_a_session(project: Path, write: Write, enter: Enter) -> None:
    write(".claude/skills/mine/SKILL.md", skill("MINE"))
    write("checkrein.toml", '[skills]\ntier1 = ["mine"]\ntier2 = ["mine"]\n')
    with pytest.raises(ConfigError, match=r"`mine` is in skills\.tier1 and skills\.tier2") as raised:
        enter(project)
    assert raised.value.origin is not None
    assert str(raised.value.origin).endswith("checkrein.toml:2")


def test_req_tier_010_unknown_names_warn_once_and_are_ignored(project: Path, write: Write) -> None:
    write("checkrein.toml", '[skills]\ntier1 = ["audit-test"]\n[subsets]\ndisabled = ["gihub"]\n')
    loaded = load(project)
    told = [one.message for one in loaded.diagnostics if one.code in ("VIS002", "VIS003")]
    assert len(told) == 2
    assert ("'audit-tests'" in told[0], "'github'" in told[1]) == (True, True)
    assert session_view(loaded).skills


def test_a_project_that_only_mentions_such_words_has_no_rules(project: Path, write: Write) -> None:
    write("pyproject.toml", '[project]\nname = "packs-and-subsets"\n')
    loaded = load(project)
    assert loaded.governance is None
    assert not loaded.skills


def test_tier_6_the_tiers_come_through_the_layers(
    project: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(".claude/skills/a/SKILL.md", skill("A"))
    write(".claude/skills/b/SKILL.md", skill("B"))
    home().mkdir()
    (home() / "config.toml").write_text('[skills]\ntier2 = ["a"]\n')
    assert session_view(load(project)).skills.keys() & {"a", "b"} == {"b"}
    write("checkrein.toml", '[skills]\ntier2 = ["b"]\n')
    assert session_view(load(project)).skills.keys() & {"a", "b"} == {"a"}
    monkeypatch.setenv("CHECKREIN_SKILLS__TIER2", "[]")
    assert session_view(load(project)).skills.keys() & {"a", "b"} == {"a", "b"}


def test_an_untrusted_projects_own_skill_grants_nothing(project: Path, write: Write) -> None:
    granted = "---\ndescription: d\nallowed-tools: Bash\n---\n!`touch made`"
    write(".checkrein/skills/grab/SKILL.md", granted)
    trust = standing(load(project))
    assert not trust.trusted
    assert trust.project.skills["grab"].item.allowed_tools == ()
    assert load(project).skills["grab"].item.allowed_tools == ("Bash",)


def test_no_rule_lets_the_model_write_our_own_directory(project: Path) -> None:
    wanted = str(project / ".checkrein" / "skills" / "new" / "SKILL.md")
    options = Options(trust=True, mode="acceptEdits", allowed=("Write",), persist=False)
    turn = Turn(tool_calls=(Call("Write", {"file_path": wanted, "content": "x"}),))
    with Session(project, model=ScriptedModel((turn, OK), idle=5), options=options) as session:
        (done,) = [event for event in session.run("go") if isinstance(event, ToolFinished)]
    assert done.is_error
    assert not Path(wanted).exists()
