"""`read(write(read(p))) == read(p)` for every dialect with a reader and a writer; losses say the truth.

`kept` means that the field comes back as it was, `lost` that it does not come back at all.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checkrein.base.origin import Origin
from checkrein.deploy.targets import writer
from checkrein.dialects.codex.read import read as read_codex
from checkrein.dialects.copilot.read import read as read_copilot
from checkrein.dialects.cursor.read import read as read_cursor
from checkrein.dialects.dialect import Reader
from checkrein.dialects.gemini.read import read as read_gemini
from checkrein.dialects.generic.written import Options, Written, content_fields
from checkrein.dialects.opencode.read import read as read_opencode
from checkrein.facts.agents import find_target
from checkrein.model.items import Agent, Command, Hook, Instruction, Item, Server, Skill
from checkrein.model.project import Sources
from checkrein.model.rule import Rule, parse_rule

MORE = 10 if os.environ.get("CHECKREIN_CAMPAIGN") else 1
"""How many times the examples of CI; the long run is with CHECKREIN_CAMPAIGN=1."""

READERS: dict[str, Reader] = {
    "copilot": read_copilot,
    "codex": read_codex,
    "gemini": read_gemini,
    "opencode": read_opencode,
    "cursor-agent": read_cursor,
}
QUICK = settings(
    max_examples=40 * MORE, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)

WORDS = st.text("abcdefgh XYZ0189'\"#:,-_*@&!%é日{}[]\\", min_size=1, max_size=24).map(str.strip).filter(bool)
NAMES = st.from_regex(r"[a-z]{1,6}(-[a-z0-9]{1,4})?", fullmatch=True)
LINES = st.lists(st.text("abc $ARGUMENTS`!@.{}\"'\\#-日", max_size=20), max_size=4).map("\n".join)
BODIES = LINES.map(lambda text: text.strip() + "\n")
PATHS = st.lists(
    st.sampled_from(["src/**/*.ts", "*.md", "docs/**", "a/b/*.py"]), unique=True, max_size=2
).map(tuple)
TOOLS = st.lists(
    st.sampled_from(
        [
            "Read",
            "Grep",
            "Glob",
            "Edit",
            "Write",
            "Bash",
            "Bash(git log:*)",
            "WebFetch",
            "mcp__gh__list",
            "Nope",
        ]
    ),
    unique=True,
    max_size=4,
).map(tuple)
MODELS = st.sampled_from([None, "opus", "sonnet", "haiku", "claude-opus-4-6", "inherit"])
EFFORTS = st.sampled_from([None, "low", "high", "xhigh", "max"])


def origin(path: str) -> Origin:
    return Origin(f"/p/{path}", "project")


@st.composite
def invocables(draw: st.DrawFn, name: str, kind: str) -> Skill | Command:
    fields: dict[str, Any] = {
        "name": name,
        "description": draw(st.none() | WORDS),
        "argument_hint": draw(st.none() | WORDS),
        "model_invocable": draw(st.booleans()),
        "user_invocable": draw(st.booleans()),
        "allowed_tools": draw(TOOLS),
        "model": draw(MODELS),
        "effort": draw(EFFORTS),
        "context": draw(st.sampled_from([None, "fork"])),
        "license": draw(st.none() | WORDS),
        "metadata": draw(st.dictionaries(NAMES, WORDS, max_size=2)),
        "body": draw(BODIES),
    }
    if kind == "command":
        return Command(origin=origin(f".claude/commands/{name}.md"), **fields)
    fields["paths"] = draw(PATHS)
    directory = f"/p/.claude/skills/{name}"
    return Skill(origin=origin(f".claude/skills/{name}/SKILL.md"), directory=directory, **fields)


@st.composite
def agents(draw: st.DrawFn, name: str) -> Agent:
    return Agent(
        name=name,
        origin=origin(f".claude/agents/{name}.md"),
        description=draw(WORDS),
        tools=draw(st.none() | TOOLS),
        model=draw(MODELS),
        max_turns=draw(st.none() | st.integers(1, 50)),
        effort=draw(EFFORTS),
        background=draw(st.none() | st.booleans()),
        color=draw(st.sampled_from([None, "red"])),
        body=draw(BODIES),
    )


@st.composite
def servers(draw: st.DrawFn, name: str) -> Server:
    references = st.sampled_from(["1", "a b", "${TOKEN}", "x-${TOKEN}"])
    values = draw(st.dictionaries(st.sampled_from(["DEBUG", "TOKEN", "X"]), references, max_size=2))
    if draw(st.booleans()):
        args = tuple(draw(st.lists(WORDS, max_size=2)))
        return Server(name=name, origin=origin(".mcp.json"), command=draw(NAMES), args=args, env=values)
    transport = draw(st.sampled_from(["http", "sse"]))
    headers = {f"X-{key}": value for key, value in values.items()}
    timeout = draw(st.none() | st.sampled_from([1000, 2500]))
    return Server(
        name=name,
        origin=origin(".mcp.json"),
        transport=transport,
        url="https://x.example/mcp",
        headers=headers,
        timeout_ms=timeout,
    )


@st.composite
def hooks(draw: st.DrawFn) -> Hook:
    return Hook(
        name=draw(st.sampled_from(["PreToolUse", "PostToolUse", "Stop", "SessionStart", "TaskCreated"])),
        origin=origin(".claude/settings.json"),
        type=draw(st.sampled_from(["command", "prompt"])),
        command=draw(WORDS),
        matcher=draw(st.sampled_from([None, "*", "Bash", "Edit|Bash", "Nope", "mcp__.*"])),
        timeout=draw(st.sampled_from([None, 5.0, 1.5])),
    )


RULES = st.builds(
    lambda text, behavior: parse_rule(text, behavior, origin(".claude/settings.json")),
    st.sampled_from(
        ["Bash(git log:*)", "Bash", "Edit", "Write", "Read(./.env)", "Skill(x)", "Bash(ls -la)", "Nope"]
    ),
    st.sampled_from(["allow", "ask", "deny"]),
)


@st.composite
def projects(draw: st.DrawFn) -> Sources:
    names = draw(st.lists(NAMES, unique=True, min_size=0, max_size=5))
    items: dict[str, list[Any]] = {"skill": [], "command": [], "agent": [], "server": []}
    for name in names:
        kind = draw(st.sampled_from(sorted(items)))
        made = {
            "skill": lambda name: invocables(name, "skill"),
            "command": lambda name: invocables(name, "command"),
            "agent": agents,
            "server": servers,
        }[kind]
        items[kind].append(draw(made(name)))
    texts = draw(st.lists(BODIES, max_size=2))
    instructions = [
        Instruction(name="/p/CLAUDE.md", origin=origin("CLAUDE.md"), kind="memory", text=text)
        for text in texts[:1]
    ]
    instructions += [
        Instruction(
            name="/p/.claude/rules/r.md",
            origin=origin(".claude/rules/r.md"),
            kind="rule",
            text=text,
            paths=draw(PATHS),
        )
        for text in texts[1:]
    ]
    return Sources(
        skills=tuple(items["skill"]),
        commands=tuple(items["command"]),
        agents=tuple(items["agent"]),
        servers=tuple(items["server"]),
        hooks=tuple(draw(st.lists(hooks(), max_size=2))),
        rules=tuple(draw(st.lists(RULES, max_size=3, unique_by=lambda rule: rule.text))),
        instructions=tuple(instructions),
    )


def write(key: str, sources: Sources) -> Written:
    target = find_target(key)
    assert target is not None
    return writer(target)(sources, Options(root="/p"))


def tree_of(written: Written) -> dict[str, str]:
    return {file.path: file.text for file in written.files}


def content(item: Item | Rule) -> dict[str, Any]:
    """What an item says, apart from where it stands."""
    if isinstance(item, Rule):
        return {"verdict": item.verdict, "text": item.text}
    fields = {name.split(".")[0] for name in content_fields(item)} - {"imports"}
    return {
        "name": item.name,
        "unknown": item.unknown,
        **{name: getattr(item, name) for name in fields if name != "unknown"},
    }


def contents(sources: Sources) -> dict[str, list[dict[str, Any]]]:
    kinds = ("skills", "commands", "agents", "servers", "hooks", "rules", "instructions")
    return {kind: [content(item) for item in getattr(sources, kind)] for kind in kinds}


def comparable(value: Any) -> Any:
    if isinstance(value, Item):
        return content(value)
    if isinstance(value, tuple | list):
        return [comparable(item) for item in value]
    return value


@pytest.mark.parametrize("key", READERS)
@QUICK
@given(sources=projects())
def test_what_was_read_is_written_and_read_again(key: str, sources: Sources) -> None:
    read = READERS[key]
    first = read(tree_of(write(key, sources)), "/p")
    assert not [found for found in first.diagnostics if found.severity == "error"]
    second = read(tree_of(write(key, first)), "/p")
    assert comparable_all(second) == comparable_all(first)


def comparable_all(sources: Sources) -> dict[str, Any]:
    found = contents(sources)
    for kind in found:
        found[kind] = [{key: comparable(value) for key, value in item.items()} for item in found[kind]]
    return found


@pytest.mark.parametrize("key", READERS)
@QUICK
@given(sources=projects())
def test_the_list_of_losses_is_exact(key: str, sources: Sources) -> None:
    written = write(key, sources)
    back = READERS[key](tree_of(written), "/p")
    found = {item.name: item for item in (*back.skills, *back.commands, *back.agents, *back.servers)}
    given_items: dict[str, Any] = {
        item.name: item for item in (*sources.skills, *sources.commands, *sources.agents, *sources.servers)
    }
    lost_items = {o.name for o in written.outcomes if not o.field and o.status == "lost"}
    for outcome in written.outcomes:
        item = given_items.get(outcome.name)
        if item is None or outcome.kind in ("hook", "rule", "instruction"):
            continue
        if outcome.name in lost_items:
            assert outcome.name not in found
            continue
        there = found[outcome.name]
        field = outcome.field
        if not field or "." in field or not hasattr(there, field) or not hasattr(item, field):
            continue
        before, after = comparable(getattr(item, field)), comparable(getattr(there, field))
        if outcome.status == "kept" and not (field == "model" and item.model == "inherit"):
            assert after == before, outcome
        if outcome.status == "lost":
            assert after in (None, (), [], {}, True, False, "") or after != before, outcome


@pytest.mark.parametrize("key", READERS)
@QUICK
@given(sources=projects())
def test_every_field_is_accounted_for(key: str, sources: Sources) -> None:
    written = write(key, sources)
    seen = {(outcome.kind, outcome.name, outcome.field) for outcome in written.outcomes}
    gone = {(o.kind, o.name) for o in written.outcomes if not o.field and o.status == "lost"}
    for kind in ("skill", "command", "agent", "server"):
        for item in getattr(sources, f"{kind}s"):
            assert (kind, item.name, "") in seen
            if (kind, item.name) not in gone:
                for field in content_fields(item):
                    assert (kind, item.name, field) in seen
    assert all(loss.origin.line for loss in written.losses)


@pytest.mark.parametrize("key", READERS)
@QUICK
@given(sources=projects())
def test_tools_are_never_widened(key: str, sources: Sources) -> None:
    """A list of tools never grows, and one of which nothing is left is written empty, not left out."""
    written = write(key, sources)
    back = {agent.name: agent for agent in READERS[key](tree_of(written), "/p").agents}
    said = {o.name: o.status for o in written.outcomes if o.kind == "agent" and o.field == "tools"}
    for agent in sources.agents:
        if agent.tools is None or said[agent.name] == "lost":
            continue
        there = back[agent.name].tools
        assert there is not None
        if key not in ("codex", "cursor-agent"):
            # One name may stand for several tools of one effect, never of another.
            alike = {"Write": "Edit", "Grep": "Glob", "WebSearch": "WebFetch", "Agent": "Task"}
            effects = {alike.get(tool, tool) for tool in agent.tools}
            assert {alike.get(tool, tool) for tool in there} <= effects


def through_disk(key: str, given_sources: Sources) -> Sources:
    """Write for an agent, load the directory as a project, and give what stands in it."""
    from checkrein.passes.load import load

    with TemporaryDirectory() as directory:
        root = Path(directory).resolve() / "p"
        (root / ".git").mkdir(parents=True)
        target = find_target(key)
        assert target is not None
        for file in writer(target)(given_sources, Options()).files:
            path = root / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)
        loaded = load(root, env={"HOME": f"{directory}/home"}, managed_dir=f"{directory}/none")
        return loaded.sources.of(("project",))


@pytest.mark.parametrize("key", ["claude", "agent-skills"])
@QUICK
@given(sources=projects())
def test_our_own_readers_read_what_was_written(key: str, sources: Sources) -> None:
    first = through_disk(key, sources)
    second = through_disk(key, first)
    assert comparable_named(second) == comparable_named(first)
    if key == "agent-skills":
        assert {skill.name for skill in first.skills} == {
            i.name for i in (*sources.skills, *sources.commands)
        }


def comparable_named(sources: Sources) -> dict[str, Any]:
    """Instructions are named by their place, which differs between two directories."""
    found = comparable_all(sources)
    for item in found["instructions"]:
        item["name"] = str(item["name"]).rpartition("/p/")[2]
    return found
