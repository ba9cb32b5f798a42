from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from checkrein.facts import signals
from checkrein.model.project import Detection, Signal
from checkrein.passes.detect import decide, detect

Tree = Callable[[Mapping[str, str]], Path]
STANDARD = "---\nname: one\ndescription: d\nlicense: MIT\n---\nBody"


def at(root: Path, path: str) -> Detection:
    return detect(root / path, env={"HOME": str(root / "home")})


def ids(found: Detection, dialect: str = "claude_code") -> list[str]:
    return [signal.id for signal in found.signals if signal.dialect == dialect]


@pytest.mark.parametrize(
    ("field", "identity"),
    [
        ("disable-model-invocation: true", "DET-02"),
        ("user-invocable: false", "DET-03"),
        ("context: fork", "DET-04"),
        ("agent: Explore", "DET-05"),
        ("hooks: {}", "DET-06"),
        ("paths: src/*", "DET-07"),
        ("shell: powershell", "DET-08"),
        ("argument-hint: x", "DET-09"),
        ("arguments: x", "DET-09"),
        ("model: opus", "DET-10"),
        ("effort: high", "DET-11"),
    ],
)
def test_fields_make_a_skill_a_claude_code_skill(tree: Tree, field: str, identity: str) -> None:
    root = tree({"x/SKILL.md": f"---\nname: x\ndescription: d\n{field}\n---\n"})
    found = at(root, "x")
    assert identity in ids(found)
    assert found.dialect == "claude_code"


@pytest.mark.parametrize(
    ("files", "identity"),
    [
        ({"p/.claude/": ""}, "DET-01"),
        ({"p/.claude/settings.json": "{}"}, "DET-13"),
        ({"p/.git/": "", "p/.mcp.json": "{}"}, "DET-14"),
        ({"p/.git/": "", "p/.claude-plugin/plugin.json": "{}"}, "DET-15"),
        ({"p/.git/": "", "p/CLAUDE.md": "x"}, "DET-16"),
    ],
)
def test_files_of_claude_code(tree: Tree, files: dict[str, str], identity: str) -> None:
    found = at(tree(files), "p")
    assert identity in ids(found)
    assert found.dialect == "claude_code"


def test_the_place_of_a_skill_speaks_too(tree: Tree) -> None:
    root = tree({"p/.claude/skills/one/SKILL.md": STANDARD})
    found = at(root, "p/.claude/skills/one/SKILL.md")
    assert {"DET-01", "DET-12"} <= set(ids(found))
    assert found.dialect == "claude_code"
    assert found.scores["claude_code"] < found.scores["agent_skills_std"]
    assert "DET-01" in found.rule
    assert not {"AS-06", "AS-07", "AS-08"} & set(ids(found, "agent_skills_std"))


def test_context_other_than_fork_is_no_signal(tree: Tree) -> None:
    found = at(tree({"x/SKILL.md": "---\nname: x\ndescription: d\ncontext: main\n---\n"}), "x")
    assert ids(found) == []


def test_only_standard_fields(tree: Tree) -> None:
    found = at(tree({"x/SKILL.md": STANDARD, "x/scripts/": ""}), "x")
    assert found.dialect == "agent_skills_std"
    assert ids(found, "agent_skills_std") == [f"AS-{number:02}" for number in range(1, 9)]


def test_the_users_own_claude_directory_says_nothing_about_a_project(tree: Tree) -> None:
    found = at(tree({"home/.claude/settings.json": "{}", "home/x/SKILL.md": STANDARD}), "home/x")
    assert found.dialect == "agent_skills_std"


@pytest.mark.parametrize(
    ("files", "dialect"),
    [
        ({"SOUL.md": "x"}, "openclaw"),
        ({"openclaw.json": '{"agents": {"defaults": {"heartbeat": {"every": "1h"}}}}'}, "openclaw"),
        ({"MEMORY.md": "x", "memory/": ""}, "openclaw"),
        ({"AGENTS.md": "x"}, "claude_code"),
        ({"agent.af": "{}"}, "letta"),
        (
            {"config/agents.yaml": "", "config/tasks.yaml": "", "crew.py": "from crewai import Crew\n"},
            "crewai",
        ),
        ({"src/pkg/crew.py": "from crewai.project import CrewBase\n@CrewBase\nclass A: ...\n"}, "crewai"),
        ({"graph.py": "from langgraph.graph import StateGraph\ng = StateGraph(X)\n"}, "langgraph"),
        ({"langgraph.json": "{}"}, "langgraph"),
        ({"a.py": "from autogen_agentchat import x\n"}, "autogen"),
        ({"a.py": "from agents import Agent\nRunner.run_sync(a)\n"}, "openai_agents_sdk"),
        ({"a.py": "from smolagents import CodeAgent\nCodeAgent()\n"}, "smolagents"),
        ({".agents/skills/": ""}, "agent_skills_std"),
        ({"skills/a/SKILL.md": "x"}, "agent_skills_std"),
        ({"README.md": "x"}, "unknown"),
    ],
)
def test_other_runtimes(tree: Tree, files: dict[str, str], dialect: str) -> None:
    root = tree({"p/.git/": ""} | {f"p/{name}": text for name, text in files.items()})
    assert at(root, "p").dialect == dialect


def test_two_runtimes_within_one_point_make_a_hybrid(tree: Tree) -> None:
    root = tree({"p/.git/": "", "p/.claude/": "", "p/SOUL.md": "x"})
    found = at(root, "p")
    assert found.dialect == "hybrid"
    assert found.contributors == ("claude_code", "openclaw")


def test_a_generated_skill_does_not_speak(tree: Tree) -> None:
    root = tree({"p/SKILL.md": f"---\nname: p\ndescription: d\n---\n{signals.GENERATED_MARK}\n"})
    assert at(root, "p").dialect == "unknown"


def scored(**scores: float) -> tuple[Signal, ...]:
    return tuple(Signal(f"X-{name}", name, weight, "e") for name, weight in scores.items())


@pytest.mark.parametrize(
    ("scores", "dialect", "contributors"),
    [
        ({"agent_skills_std": 3.0, "claude_code": 3.0}, "agent_skills_std", ("agent_skills_std",)),
        ({"agent_skills_std": 3.0, "claude_code": 2.0}, "claude_code", ("claude_code",)),
        ({"agent_skills_std": 5.0, "claude_code": 2.0}, "agent_skills_std", ("agent_skills_std",)),
        ({"agent_skills_std": 2.0, "claude_code": 5.0}, "claude_code", ("claude_code",)),
        ({"claude_code": 8.0, "crewai": 7.0, "langgraph": 6.0}, "hybrid", ("claude_code", "crewai")),
        ({"crewai": 4.0, "langgraph": 4.0}, "hybrid", ("crewai", "langgraph")),
        ({"crewai": 4.0, "langgraph": 2.5}, "crewai", ("crewai",)),
        ({"agent_skills_std": 4.0, "claude_code": 3.0, "crewai": 3.5}, "hybrid", ("claude_code", "crewai")),
        ({}, "unknown", ()),
    ],
)
def test_verdicts(scores: dict[str, float], dialect: str, contributors: tuple[str, ...]) -> None:
    found = decide(scored(**scores))
    assert (found.dialect, found.contributors) == (dialect, contributors)


def test_openclaw_needs_one_strong_or_two_medium_signals() -> None:
    weak = Signal("OC-03", "openclaw", 1.0, "AGENTS.md")
    assert decide([weak]).dialect == "unknown"
    assert decide([weak], agents_file=True).dialect == "claude_code"
    assert decide([weak, Signal("OC-09", "openclaw", 1.0, "triad")]).dialect == "openclaw"


def test_every_signal_has_an_id_of_its_own() -> None:
    identities = [fact.id for fact in signals.SIGNALS]
    assert len(set(identities)) == len(identities)
    assert {fact.dialect for fact in signals.SIGNALS} == set(signals.TIE_ORDER)
