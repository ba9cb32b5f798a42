"""The prompt cache, row by row: what keeps the bytes of the requests before, what breaks them and says so.

Bodies are those of the Messages API without marks; a request extends another when its body begins with the
other's up to the end of the last message.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from checkrein.cli import why
from checkrein.llm.anthropic_body import encode, encode_message
from checkrein.llm.bodies import MessageBytes
from checkrein.llm.port import Request, SystemBlock, Text, ToolSpec, assistant, user
from checkrein.runtime.call.toolset import Toolbox
from checkrein.runtime.context.cache import PrefixWatch, cache_marks, cache_ttl
from checkrein.runtime.context.cachereport import cache_report
from checkrein.runtime.session.events import CacheBreak
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.runtime.tools.catalog import builtin_tools
from checkrein.testing import Call, Match, ScriptedModel, ScriptedServer, Turn

Write = Callable[[str, object], Path]
OK = Turn(text="ok")


def about_cache(project: Path, session: str) -> why.Given:
    return why.Given(things=(), project=str(project), kind=None, prompt=False, cache=session, model=None)


def body(request: Request) -> bytes:
    return encode(replace(request, marks=(), max_tokens=1), MessageBytes(encode_message))


def extends(after: Request, before: Request) -> bool:
    return body(after).startswith(body(before)[: -len(b"]}")])


def unbroken(requests: Iterable[Request]) -> bool:
    every = list(requests)
    return all(extends(after, before) for before, after in pairwise(every))


def bash(command: str = "echo k") -> Turn:
    return Turn(tool_calls=(Call("Bash", {"command": command}),))


def skill(name: str = "s") -> Turn:
    return Turn(tool_calls=(Call("Skill", {"skill": name}),))


class Talk:
    def __init__(self, project: Path, *turns: Turn, **options: object) -> None:
        self.model = ScriptedModel(turns, idle=5)
        self.session = Session(project, model=self.model, options=Options(trust=True, **options))
        self.breaks: list[CacheBreak] = []

    def say(self, prompt: str = "go") -> Talk:
        self.breaks += [event for event in self.session.run(prompt) if isinstance(event, CacheBreak)]
        return self

    def close(self) -> Talk:
        self.session.close()
        return self


def change_nothing(talk: Talk, write: Write) -> None:
    pass


def change_mode(talk: Talk, write: Write) -> None:
    talk.session.control.set_mode("plan")


def change_instructions(talk: Talk, write: Write) -> None:
    write("CLAUDE.md", "other rules")


def change_skill(talk: Talk, write: Write) -> None:
    write(".claude/skills/s/SKILL.md", "---\ndescription: other\n---\nother text")
    write(".claude/skills/new/SKILL.md", "---\ndescription: new\n---\nnew text")


def change_command(talk: Talk, write: Write) -> None:
    write(".claude/commands/c.md", "other text")


def change_agent(talk: Talk, write: Write) -> None:
    write(".claude/agents/a.md", "---\nname: a\ndescription: other\n---\nother")


def change_denials(talk: Talk, write: Write) -> None:
    write(".claude/settings.json", {"permissions": {"deny": ["Grep", "Bash(rm *)"]}})


def change_hooks(talk: Talk, write: Write) -> None:
    hook = {"type": "command", "command": "true"}
    write(".claude/settings.json", {"hooks": {"PreToolUse": [{"hooks": [hook]}]}})


def change_a_file(talk: Talk, write: Write) -> None:
    write("a.txt", "other")


def change_branch(talk: Talk, write: Write) -> None:
    write(".git/HEAD", "ref: refs/heads/other\n")


@pytest.mark.parametrize(
    "change",
    [
        change_nothing,
        change_mode,
        change_instructions,
        change_skill,
        change_command,
        change_agent,
        change_denials,
        change_hooks,
        change_a_file,
        change_branch,
    ],
)
def test_what_does_not_break(project: Path, write: Write, change: Callable[[Talk, Write], None]) -> None:
    write("CLAUDE.md", "rules")
    write(".claude/skills/s/SKILL.md", "---\ndescription: d\n---\ntext")
    write(".claude/settings.json", {})
    turns = (bash(), skill(), OK, Turn(tool_calls=(Call("Read", {"file_path": "a.txt"}),)), bash(), OK)
    talk = Talk(project, *turns, allowed=("Skill",)).say("one")
    change(talk, write)
    talk.say("two").close()
    assert len(talk.model.requests) == 6
    assert unbroken(talk.model.requests)
    assert talk.breaks == []


def test_a_day_that_ends_does_not_break(project: Path, monkeypatch) -> None:
    monkeypatch.setenv("CHECKREIN_CLOCK", "2026-11-15T23:59:59Z")
    talk = Talk(project, OK, OK).say()
    monkeypatch.setenv("CHECKREIN_CLOCK", "2026-11-16T00:00:01Z")
    talk.say().close()
    assert unbroken(talk.model.requests)
    assert "2026" not in "".join(block.text for block in talk.model.requests[0].system)


def test_a_model_breaks_the_whole_request(project: Path, tmp_path: Path) -> None:
    script = tmp_path / "other.jsonl"
    script.write_text('{"text": "other"}\n')
    talk = Talk(project, bash(), OK).say()
    talk.session.control.set_model(f"scripted:{script}")
    talk.say().close()
    (broken,) = talk.breaks
    assert (broken.layer, broken.kept) == ("request", 0)
    assert "model changed" in broken.reason
    assert broken.tokens > 1_000


def test_an_effort_breaks_the_whole_request_and_once_more_when_it_ends(project: Path, write: Write) -> None:
    write(".claude/skills/s/SKILL.md", "---\ndescription: d\neffort: max\n---\ntext")
    talk = Talk(project, skill(), bash(), OK, OK, allowed=("Skill",)).say().say().close()
    assert [broken.reason for broken in talk.breaks] == [
        "the effort changed to max",
        "the effort changed to the default",
    ]
    first, second, third, fourth = talk.model.requests
    assert not extends(second, first)
    assert extends(third, second)
    assert not extends(fourth, third)
    assert extends(fourth, first)


def test_compaction_breaks_the_conversation_alone(project: Path) -> None:
    full = Turn(tool_calls=(Call("Bash", {"command": "echo k"}),), usage={"input": 190_000})
    summary = Turn(text="S", when=Match(text="Write a summary"))
    talk = Talk(project, bash(), full, summary, bash(), OK).say().close()
    (broken,) = talk.breaks
    assert broken.layer == "conversation"
    requests = talk.model.requests
    assert unbroken(requests[:3])
    assert not extends(requests[3], requests[2])
    assert unbroken(requests[3:])
    assert (requests[3].tools, requests[3].system) == (requests[0].tools, requests[0].system)


BASE = Request(
    model="m",
    messages=(user("a"), assistant(Text("b")), user("c")),
    system=(SystemBlock("s"),),
    tools=(ToolSpec("A", "a", {}), ToolSpec("B", "b", {})),
)


@pytest.mark.parametrize(
    ("change", "layer", "words"),
    [
        ({"model": "n"}, "request", "model changed to n"),
        ({"effort": "high"}, "request", "effort changed to high"),
        ({"thinking": 5000}, "request", "thinking changed to 5000"),
        ({"extra": {"speed": "fast"}}, "request", "switch of the service"),
        ({"betas": ("fast",)}, "request", "switch of the service"),
        ({"system": (SystemBlock("t"),)}, "request", "system prompt changed"),
        ({"tools": (*BASE.tools, ToolSpec("C", "c", {}))}, "request", "added: C"),
        ({"tools": BASE.tools[:1]}, "request", "removed: B"),
        ({"tools": (BASE.tools[0], ToolSpec("B", "other", {}))}, "request", "changed: B"),
        ({"tools": BASE.tools[::-1]}, "request", "order"),
        ({"messages": (user("a"), assistant(Text("x")), user("c"))}, "conversation", "message 2"),
        ({"messages": (user("a"),)}, "conversation", "message 2"),
    ],
)
def test_each_reason_is_named(change: dict[str, object], layer: str, words: str) -> None:
    watch = PrefixWatch()
    assert watch.check(BASE) is None
    assert watch.check(replace(BASE, messages=(*BASE.messages, assistant(Text("d"))))) is None
    changed = replace(BASE, **change)
    broken = watch.check(changed)
    assert broken is not None
    assert (broken.layer, words in broken.reason) == (layer, True)
    assert not extends(changed, BASE) or layer == "conversation" or "extra" in change or "betas" in change
    assert watch.check(changed) is None


def test_tools_that_wait_can_come_and_go() -> None:
    box = Toolbox(tool for tool in builtin_tools() if tool.eager)
    more = box.with_tools(*(tool for tool in builtin_tools() if not tool.eager))
    watch = PrefixWatch()
    few, many, all_ = (replace(BASE, tools=one.specs) for one in (box, more, more.all_upfront()))
    assert (watch.check(few), body(few)) == (None, body(many))
    assert watch.check(many) is None
    assert watch.check(all_) is not None
    assert not extends(all_, many)


def test_two_sessions_of_a_day_share_what_stands_in_front(project: Path, write: Write) -> None:
    write("CLAUDE.md", "rules")
    write(".claude/skills/s/SKILL.md", "---\ndescription: d\n---\ntext")
    one, two = (Talk(project, OK).say(prompt).close().model.requests[0] for prompt in ("one", "two"))
    assert (one.tools, one.system) == (two.tools, two.system)
    assert one.messages[0].content[:-1] == two.messages[0].content[:-1]
    place = next(mark for mark in one.marks if mark.section == "messages" and mark.index == 0)
    assert place.block == len(one.messages[0].content) - 2


def test_another_directory_keeps_system_and_tools(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    one, two = (Talk(place, OK).say().close().model.requests[0] for place in (project, other))
    assert (one.tools, one.system) == (two.tools, two.system)
    assert one.messages != two.messages


class TestResume:
    def test_it_goes_on_byte_for_byte(self, project: Path, write: Write) -> None:
        write("CLAUDE.md", "rules")
        first = Talk(project, bash(), bash("seq 5"), OK).say().close()
        later = Talk(project, bash(), OK, resume=first.session.id).say("more").close()
        assert unbroken([*first.model.requests, *later.model.requests])
        assert later.breaks == []

    def test_a_fork_shares_the_prefix_of_its_parent(self, project: Path) -> None:
        first = Talk(project, bash(), OK).say().close()
        forks = [Talk(project, OK, resume=first.session.id, fork=True).say(word).close() for word in "ab"]
        for fork in forks:
            assert extends(fork.model.requests[0], first.model.requests[-1])
            assert fork.breaks == []
        again = Talk(project, OK, resume=first.session.id).say("c").close()
        assert extends(again.model.requests[0], first.model.requests[-1])

    def test_edited_instructions_do_not_break_it(self, project: Path, write: Write) -> None:
        write("CLAUDE.md", "rules")
        first = Talk(project, OK).say().close()
        write("CLAUDE.md", "other rules")
        later = Talk(project, OK, resume=first.session.id).say().close()
        assert unbroken([*first.model.requests, *later.model.requests])

    def test_an_upgrade_breaks_it_and_says_so(self, project: Path, monkeypatch) -> None:
        first = Talk(project, bash(), OK).say().close()
        monkeypatch.setattr("checkrein.__version__", "99.0")
        monkeypatch.setattr("checkrein.runtime.context.prompt.stable_text", lambda: "A new system prompt.")
        later = Talk(project, OK, resume=first.session.id).say().close()
        (broken,) = later.breaks
        assert broken.reason == "the session was resumed with other system after an upgrade to 99.0"
        assert not extends(later.model.requests[0], first.model.requests[-1])

    def test_a_denied_tool_breaks_it(self, project: Path) -> None:
        first = Talk(project, OK).say().close()
        later = Talk(project, OK, resume=first.session.id, disallowed=("Grep",)).say().close()
        assert [broken.reason for broken in later.breaks] == ["the session was resumed with other tools"]


@pytest.mark.parametrize("rule", ["Grep", "Bash(*)", "Web*", "Bash"])
def test_a_whole_tool_that_is_denied_leaves_at_the_start_and_not_later(
    project: Path, write: Write, rule: str
) -> None:
    """At the start it changes the request; while the session runs the definition stays, whichever way the
    rule goes: what is in the request once is there to its end."""
    settings = {"permissions": {"deny": [rule]}}
    plain = Talk(project, OK, OK, OK, tools=("default",)).say()
    write(".claude/settings.json", settings)
    plain.say()
    write(".claude/settings.json", {})
    plain.say().close()
    assert unbroken(plain.model.requests)
    assert plain.breaks == []
    write(".claude/settings.json", settings)
    denied = Talk(project, OK, OK, resume=plain.session.id).say()
    write(".claude/settings.json", {})
    denied.say().close()
    names = [{tool.name for tool in talk.model.requests[0].tools} for talk in (plain, denied)]
    if rule != "Web*":  # its tools wait behind the search and are not in the request anyway
        assert len(names[0] - names[1]) == 1
        assert [broken.reason for broken in denied.breaks] == ["the session was resumed with other tools"]
        assert not extends(denied.model.requests[0], plain.model.requests[-1])
    assert unbroken(denied.model.requests)


def test_processes_send_the_same_bytes(project: Path, write: Write) -> None:
    """Whatever the hash seed of the interpreter and the order of the directory."""
    write("CLAUDE.md", "rules")
    for name in ("b", "a", "c"):
        write(f".claude/skills/{name}/SKILL.md", f"---\ndescription: {name}\n---\ntext")
    bodies = []
    for seed in ("1", "2", "3"):
        with ScriptedServer([OK]) as server:
            more = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "none", "PYTHONHASHSEED": seed}
            argv = [sys.executable, "-m", "checkrein", "-p", "go", "--model", "anthropic:claude-sonnet-4-5"]
            subprocess.run(argv, cwd=project, env=os.environ | more, stdin=subprocess.DEVNULL, check=True)
            bodies.append(json.loads(server.requests[0].body))
    for sent in bodies:
        sent.pop("metadata", None)
    assert bodies[0] == bodies[1] == bodies[2]
    assert [list(sent) for sent in bodies] == [list(bodies[0])] * 3


def test_what_a_break_costs(project: Path, write: Write) -> None:
    from checkrein.facts.models import find_model

    write(".claude/skills/s/SKILL.md", "---\ndescription: d\neffort: max\n---\ntext")
    load = {"tool_calls": [{"name": "Skill", "input": {"skill": "s"}}], "usage": {"cache_creation": 5_000}}
    again = {"text": "ok", "usage": {"input": 0, "cache_creation": 6_000, "output": 5}}
    env = {**os.environ, "ANTHROPIC_API_KEY": "none"}
    with ScriptedServer([load, again]) as server:
        env["ANTHROPIC_BASE_URL"] = server.url
        options = Options(trust=True, allowed=("Skill",))
        model = "anthropic:claude-sonnet-4-5"
        with Session(project, model=model, options=options, env=env) as session:
            list(session.run("go"))
    report = cache_report(session.conversation.recorder.writer.path)
    first, second = report.requests
    facts = find_model("claude-sonnet-4-5")
    assert facts is not None
    assert first.extra_usd is None
    assert 0 < second.resent <= second.prompt == 6_000
    dearer = (facts.prices.cache_write or facts.prices.input) - facts.prices.cache_read
    assert second.extra_usd == pytest.approx(second.resent * dearer / 1_000_000)
    assert report.extra_usd == second.extra_usd
    shown = why.run(about_cache(project, session.id)).text
    assert shown is not None
    assert f"{second.extra_usd:.4f} USD" in shown()


def test_a_model_that_was_fallen_back_to_stays(project: Path, tmp_path: Path) -> None:
    from checkrein.runtime.turn.retry import RetryPolicy
    from checkrein.testing import Fault

    script = tmp_path / "second.jsonl"
    script.write_text('{"text": "second", "repeat": 0}\n')
    overloaded = Turn(fault=Fault(status=529), repeat=0)
    quick = RetryPolicy(attempts=1, scale=0.001)
    talk = Talk(project, overloaded, fallback_models=(f"scripted:{script}",), retry=quick)
    talk.say().say().close()
    assert len(talk.breaks) == 1
    assert talk.session.result is not None
    assert talk.session.result.text == "second"


@pytest.mark.parametrize(
    ("env", "ttl"),
    [
        ({}, "5m"),
        ({"ENABLE_PROMPT_CACHING_1H": "1"}, "1h"),
        ({"ENABLE_PROMPT_CACHING_1H": "1", "FORCE_PROMPT_CACHING_5M": "1"}, "5m"),
        ({"DISABLE_PROMPT_CACHING": "1"}, None),
        ({"DISABLE_PROMPT_CACHING_OPUS": "1"}, None),
        ({"DISABLE_PROMPT_CACHING_HAIKU": "1"}, "5m"),
        ({"DISABLE_PROMPT_CACHING": "0"}, "5m"),
    ],
)
def test_how_long_it_is_kept(env: dict[str, str], ttl: str | None) -> None:
    assert cache_ttl(env, "claude-opus-5-5") == ttl
    assert len(cache_marks(cache_ttl(env, "claude-opus-5-5"), 2)) == (3 if ttl else 0)


def test_marks_are_the_only_difference_that_they_make(project: Path) -> None:
    request = Talk(project, OK).say().close().model.requests[0]
    marked = json.loads(encode(request, MessageBytes(encode_message)))
    found = json.dumps(marked).count("cache_control")
    assert found == 3
    assert marked["system"][-1]["cache_control"] == {"type": "ephemeral"}

    def plain(value: object) -> object:
        if isinstance(value, dict):
            return {key: plain(inner) for key, inner in value.items() if key != "cache_control"}
        return [plain(inner) for inner in value] if isinstance(value, list) else value

    assert plain(marked) == plain(
        json.loads(encode(replace(request, marks=()), MessageBytes(encode_message)))
    )


def test_the_report_of_a_session(project: Path, write: Write) -> None:
    write(".claude/skills/s/SKILL.md", "---\ndescription: d\neffort: max\n---\ntext")
    used = {"input": 10, "cache_read": 900, "cache_creation": 90, "output": 5}
    load = Turn(tool_calls=(Call("Skill", {"skill": "s"}),), usage={"input": 0, "cache_creation": 1000})
    talk = Talk(project, load, Turn(text="ok", usage=used), allowed=("Skill",)).say().close()
    report = cache_report(talk.session.conversation.recorder.writer.path)
    assert [(row.prompt, row.cached, row.broke) for row in report.requests] == [
        (1000, 0, None),
        (1000, 900, "the effort changed to max"),
    ]
    assert (report.breaks, report.share) == (1, 0.45)
    assert report.requests[1].resent > 0
    outcome = why.run(about_cache(project, talk.session.id))
    assert outcome.text is not None
    assert "broke: the effort changed to max" in outcome.text()
    assert "900 of 2,000 prompt tokens" in outcome.text()
