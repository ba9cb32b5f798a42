"""The tool host: one call from its words to its result, without a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import NotFoundError, PolicyError
from checkrein.llm.port import Cancel, Text, ToolUse
from checkrein.policy.tools import effects
from checkrein.runtime.call import hooked
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.call.host import INTERRUPTED
from checkrein.runtime.context.compaction import RESULT_CHARS
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.session.control import Answer, ScriptedAsker
from checkrein.runtime.session.events import (
    HookFinished,
    Notice,
    PermissionDenied,
    ToolFinished,
    ToolStarted,
)
from checkrein.runtime.tools.port import ToolContext, ToolFailure, ToolOutput
from support.calls import SETTINGS, Rig, hook, make_gate, make_tool

Make = Callable[..., Rig]
ECHO_SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.fixture
def rig(project: Path, spawner: Spawner) -> Iterator[Make]:
    made: list[Rig] = []

    def make(*rules: str, gate: Gate | None = None, **options: Any) -> Rig:
        made.append(Rig(project, gate or make_gate(*rules, root=str(project)), spawner, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def says(**fields: Any) -> str:
    """The command of a hook that answers with these fields for PreToolUse."""
    return f"echo '{json.dumps({'hookSpecificOutput': {'hookEventName': 'PreToolUse', **fields}})}'"


def echo(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    return ToolOutput(content=json.dumps(input), structured=dict(input))


def lines(rig: Rig) -> list[dict[str, Any]]:
    return [json.loads(line) for line in rig.writer.path.read_text().splitlines()]


class TestInput:
    """What is wrong with a call before anybody judges it."""

    def test_an_unknown_tool_gets_the_nearest_name(self, rig: Make) -> None:
        finished = rig().call("Raed", file_path="x").finished
        assert (finished.is_error, finished.verdict) == (True, "error")
        assert "There is no tool 'Raed'" in finished.content
        assert "'Read'" in finished.content

    def test_broken_input(self, rig: Make) -> None:
        made = rig()
        done = made.host.call(ToolUse("c1", "Read", {}, broken='{"file_path": '), made.cancel)
        assert done.finished.is_error
        assert "not a JSON object" in done.finished.content

    def test_input_that_does_not_fit(self, rig: Make) -> None:
        made = rig(
            "allow Echo", tools=[make_tool("Echo", echo, schema=ECHO_SCHEMA)], hooks=[hook("touch ran")]
        )
        finished = made.call("Echo", n="many").finished
        assert "n must be a whole number" in finished.content
        assert made.told == [], "no hook heard of it, nothing ran"

    def test_values_become_what_they_mean(self, rig: Make) -> None:
        made = rig("allow Echo", tools=[make_tool("Echo", echo, schema=ECHO_SCHEMA)])
        assert made.call("Echo", n="7").finished.structured == {"n": 7}

    def test_a_call_through_the_search_is_one_of_the_tool(self, rig: Make) -> None:
        made = rig("deny Echo", tools=[make_tool("Echo", echo)])
        done = made.call("ToolSearch", name="Echo", input={})
        assert (done.finished.name, done.finished.refused) == ("Echo", True)


class TestRules:
    def test_a_refusal_names_rule_file_and_line(self, rig: Make) -> None:
        made = rig("allow Bash(ls)", "deny Bash(touch *)")
        done = made.call("Bash", command="touch x")
        assert done.finished.refused
        assert done.finished.is_error
        assert f"Rule: Bash(touch *) ({SETTINGS}:2)" in done.finished.content
        assert done.denial is not None
        assert (done.denial.by, done.denial.denial.rule) == ("rule", "Bash(touch *)")
        assert made.of(ToolStarted) == []

    def test_a_person_hears_what_a_server_claims(self, rig: Make, project: Path) -> None:
        asker = ScriptedAsker(Answer(verdict="deny"))
        claimed = make_tool("Echo", echo, claims=("it only reads",))
        made = rig(gate=make_gate("ask Echo", root=str(project), asker=asker), tools=[claimed])
        assert made.call("Echo").finished.refused
        assert [one.claims for one in asker.questions] == [("it only reads",)]

    def test_a_person_may_change_the_input_and_it_is_judged_again(self, rig: Make, project: Path) -> None:
        answers = [
            Answer(verdict="allow", updated_input={"command": f"touch {one}"}) for one in ("no", "yes")
        ]
        gate = make_gate("deny Bash(touch no)", root=str(project), asker=ScriptedAsker(*answers))
        made = rig(gate=gate)
        assert made.call("Bash", command="touch x").finished.refused
        done = made.call("Bash", command="touch x")
        assert (done.finished.is_error, done.finished.input) == (False, {"command": "touch yes"})
        assert sorted(path.name for path in project.iterdir()) == [".git", "yes"]

    @pytest.mark.parametrize("given", [{}, {"command": 5 * [""]}, {"command": "touch y", "timeout": "soon"}])
    def test_an_answer_can_not_bring_an_input_that_does_not_fit(
        self, rig: Make, project: Path, given: dict[str, Any]
    ) -> None:
        asker = ScriptedAsker(Answer(verdict="allow", updated_input=given))
        made = rig(gate=make_gate(root=str(project), asker=asker))
        finished = made.call("Bash", command="touch x").finished
        assert (finished.is_error, finished.verdict) == (True, "error")
        assert "The answer to a question rewrote the input, and" in finished.content
        assert made.of(ToolStarted) == []

    def test_only_allow_allows(self, rig: Make, project: Path) -> None:
        answer: Any = Answer(verdict="reject")  # type: ignore[arg-type]  # of a program without types
        made = rig(gate=make_gate(root=str(project), asker=ScriptedAsker(answer)))
        assert made.call("Bash", command="touch x").finished.refused

    def test_an_interrupt_goes_with_a_refusal(self, rig: Make, project: Path) -> None:
        asker = ScriptedAsker(Answer(verdict="deny", message="stop it", interrupt=True))
        done = rig(gate=make_gate(root=str(project), asker=asker)).call("Bash", command="touch x")
        assert (done.interrupt, done.finished.refused) == (True, True)

    @pytest.mark.parametrize(("caller", "asked"), [("model", 1), ("program", 1), ("hook", 0), ("skill", 0)])
    def test_who_may_be_put_to_a_person(self, rig: Make, project: Path, caller: Any, asked: int) -> None:
        asker = ScriptedAsker(Answer(verdict="allow"))
        done = rig(gate=make_gate(root=str(project), asker=asker)).call("Bash", caller, command="touch x")
        assert (len(asker.questions), done.finished.refused) == (asked, not asked)

    def test_a_tool_is_judged_by_what_it_does(self, rig: Make) -> None:
        tool = make_tool("Peek", echo, effects=effects("Peek", reads=("path",)))
        made = rig("allow Peek", "deny Read(secret)", tools=[tool])
        assert made.call("Peek", path="secret").finished.rule == "Read(secret)"
        assert not made.call("Peek", path="plain").finished.is_error

    def test_a_tool_in_the_place_of_a_built_in_one_is_bound_by_the_rules_for_it(self, rig: Make) -> None:
        made = rig("deny Read(secret)", tools=[make_tool("Read", echo)])
        assert made.call("Read", file_path="secret").finished.rule == "Read(secret)"
        assert made.call("Read", file_path="plain").finished.verdict == "ask", "it is not the built-in one"
        allowed = rig("deny Read(secret)", "allow Read", tools=[make_tool("Read", echo)])
        assert allowed.call("Read", file_path="secret").finished.refused
        assert not allowed.call("Read", file_path="plain").finished.is_error

    def test_a_tool_that_wants_to_end_the_process_has_failed(self, rig: Make) -> None:
        def leave(input: dict[str, Any], context: ToolContext) -> ToolOutput:
            raise SystemExit(3)

        finished = rig("allow Leave", tools=[make_tool("Leave", leave)]).call("Leave").finished
        assert (finished.is_error, "SystemExit: 3" in finished.content) == (True, True)


class TestHooks:
    def test_a_hook_denies_in_its_own_words(self, rig: Make, project: Path) -> None:
        made = rig("allow Bash", hooks=[hook("echo not here >&2; exit 2", matcher="Bash")])
        done = made.call("Bash", command="touch x")
        assert done.finished.refused
        assert done.finished.content.endswith(": not here")
        assert not (project / "x").exists()
        assert [event.outcome for event in made.of(HookFinished)] == ["error"]

    def test_a_hook_rewrites_the_input_and_rules_see_that(self, rig: Make, project: Path) -> None:
        rewrites = hook(says(permissionDecision="allow", updatedInput={"command": "touch other"}))
        made = rig("allow Bash", hooks=[rewrites])
        assert made.call("Bash", command="touch x").finished.input == {"command": "touch other"}
        assert (project / "other").exists()
        denied = rig("allow Bash", "deny Bash(touch other)", hooks=[rewrites]).call("Bash", command="touch x")
        assert denied.finished.rule == "Bash(touch other)", "a hook's allow never beats a deny"

    def test_a_rewrite_that_does_not_fit(self, rig: Make) -> None:
        bad = hook(says(updatedInput={"n": "many"}))
        made = rig("allow Echo", tools=[make_tool("Echo", echo, schema=ECHO_SCHEMA)], hooks=[bad])
        finished = made.call("Echo", n=1).finished
        assert finished.content.startswith("A hook rewrote the input, and ")
        assert made.of(ToolStarted) == []

    def test_hooks_see_whole_paths(self, rig: Make, project: Path) -> None:
        (project / "a").write_text("x")
        rig(hooks=[hook(f"cat > {project}/heard")]).call("Read", file_path="a")
        heard = json.loads((project / "heard").read_text())
        assert heard["tool_input"]["file_path"] == str(project / "a")

    def test_a_hook_ends_the_turn_before_the_call(self, rig: Make, project: Path) -> None:
        ends = hook("""echo '{"continue": false, "stopReason": "enough"}'""")
        done = rig("allow Bash", hooks=[ends]).call("Bash", command="touch x")
        assert (done.stop, done.finished.is_error) == ("enough", True)
        assert not (project / "x").exists()

    def test_texts_for_the_model_and_for_the_person(self, rig: Make) -> None:
        made = rig("allow Echo", tools=[make_tool("Echo", echo)])
        told = {
            "systemMessage": "psst",
            "hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "mind"},
        }
        made.registry.add([hook(f"echo '{json.dumps(told)}'")])
        done = made.call("Echo")
        assert [context.text for context in done.after] == ["PreToolUse hook: mind"]
        assert [notice.text for notice in made.of(Notice)] == ["psst"]

    def test_a_hook_after_the_call_replaces_the_output(self, rig: Make) -> None:
        new = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": {"n": 2}}}
        made = rig(
            "allow Echo",
            tools=[make_tool("Echo", echo)],
            hooks=[hook(f"echo '{json.dumps(new)}'", "PostToolUse")],
        )
        assert made.call("Echo", n=1).finished.structured == {"n": 2}

    @pytest.mark.parametrize("error", [ToolFailure("it broke"), ZeroDivisionError("by nothing")])
    def test_hooks_hear_of_every_failure(self, rig: Make, project: Path, error: Exception) -> None:
        def fail(input: dict[str, Any], context: ToolContext) -> ToolOutput:
            raise error

        made = rig(
            "allow Fail",
            tools=[make_tool("Fail", fail)],
            hooks=[hook(f"cat > {project}/heard", "PostToolUseFailure")],
        )
        finished = made.call("Fail").finished
        assert finished.is_error
        assert str(error) in finished.content
        assert str(error) in json.loads((project / "heard").read_text())["error"]


class TestWork:
    def test_what_a_failure_says_goes_to_the_model(self, rig: Make) -> None:
        def fail(input: dict[str, Any], context: ToolContext) -> ToolOutput:
            raise ToolFailure("try Glob", structured={"why": 1})

        finished = rig("allow Fail", tools=[make_tool("Fail", fail)]).call("Fail").finished
        assert (finished.content, finished.structured, finished.is_error) == ("try Glob", {"why": 1}, True)
        assert finished.verdict == "allow", "it was allowed, and failed"

    def test_a_bug_of_a_tool_is_a_result_too(self, rig: Make) -> None:
        def fail(input: dict[str, Any], context: ToolContext) -> ToolOutput:
            raise ZeroDivisionError("by nothing")

        made = rig("allow Fail", tools=[make_tool("Fail", fail)])
        finished = made.call("Fail").finished
        assert finished.content == "The tool failed unexpectedly: ZeroDivisionError: by nothing"
        assert len(made.of(ToolStarted)) == 1

    def test_the_start_is_in_the_transcript_before_the_tool_runs(self, rig: Make) -> None:
        seen: list[str] = []

        def look(input: dict[str, Any], context: ToolContext) -> ToolOutput:
            seen.append(made.writer.path.read_text())
            return ToolOutput(content="")

        made = rig("allow Look", tools=[make_tool("Look", look)])
        made.call("Look")
        assert '"tool_started"' in seen[0]

    def test_cancelled_before_it_runs(self, rig: Make, project: Path) -> None:
        made = rig("allow Bash")
        made.cancel.cancel()
        finished = made.call("Bash", command="touch x").finished
        assert finished.content == "Not run: the user interrupted the turn."
        assert made.of(ToolStarted) == []
        assert not (project / "x").exists()

    def test_cancelled_while_it_runs(self, rig: Make, project: Path) -> None:
        def stop(input: dict[str, Any], context: ToolContext) -> ToolOutput:
            context.cancel.cancel()
            raise ToolFailure("half of it is done")

        heard = hook(f"cat > {project}/heard", "PostToolUseFailure")
        finished = rig("allow Stop", tools=[make_tool("Stop", stop)], hooks=[heard]).call("Stop").finished
        assert finished.content == f"half of it is done\n{INTERRUPTED}"
        assert json.loads((project / "heard").read_text())["is_interrupt"] is True, "hooks still run"

    def test_a_large_result_is_kept_elsewhere(self, rig: Make) -> None:
        whole = "x" * RESULT_CHARS + "END"
        finished = rig("allow Big", tools=[make_tool("Big", whole)]).call("Big").finished
        assert len(finished.content) < RESULT_CHARS
        path = finished.content.partition("the whole is in ")[2].partition(" ...]")[0]
        assert Path(path).read_text() == whole

    def test_a_large_result_in_blocks(self, rig: Make) -> None:
        def big(input: dict[str, Any], context: ToolContext) -> ToolOutput:
            return ToolOutput(content=(Text("a" * RESULT_CHARS), Text("b" * 10)))

        first, second = rig("allow Big", tools=[make_tool("Big", big)]).call("Big").finished.content
        assert "the whole is in" in first.text
        assert second.text == "b" * 10

    def test_only_approved_paths_are_handed_on(self, rig: Make, project: Path) -> None:
        contexts: list[ToolContext] = []

        def look(input: dict[str, Any], context: ToolContext) -> ToolOutput:
            contexts.append(context)
            return ToolOutput(content="")

        tool = make_tool("Peek", look, effects=effects("Peek", reads=("path",)))
        rig("allow Peek", "deny Read(secret)", tools=[tool]).call("Peek", path="plain")
        (context,) = contexts
        assert context.approved_paths == (str(project / "plain"),)
        assert context.may_read is not None
        assert (context.may_read(f"{project}/secret"), context.may_read(f"{project}/x")) == (False, True)


class TestAside:
    """Calls that are not part of the conversation."""

    def test_events_say_whose_they_are(self, rig: Make) -> None:
        made = rig("allow Echo", tools=[make_tool("Echo", echo)], hooks=[hook("true")])
        made.call_aside("Echo", "program", parent="up")
        assert {event.parent_call for event in made.told} == {"up"}
        (started,), (finished,) = made.of(ToolStarted), made.of(ToolFinished)
        assert started.caller == finished.caller == "program"

    def test_a_refusal_is_told_too(self, rig: Make) -> None:
        made = rig("deny Echo", tools=[make_tool("Echo", echo)])
        assert made.call_aside("Echo").finished.refused
        assert [type(event) for event in made.told] == [PermissionDenied, ToolFinished]

    def test_the_transcript_has_a_mark_and_no_result(self, rig: Make) -> None:
        made = rig("allow Echo", tools=[make_tool("Echo", echo)])
        made.call_aside("Echo", "skill", parent="up", n=1)
        for event in made.told:
            made.host.recorder.take(event)
        marks = [
            line["checkrein"] for line in lines(made) if line.get("checkrein", {}).get("event") == "call"
        ]
        assert [(mark["name"], mark["caller"], mark["parent_call"], mark["input"]) for mark in marks] == [
            ("Echo", "skill", "up", {"n": 1})
        ]
        assert not any(line["type"] == "user" for line in lines(made))

    def test_an_aside_that_was_cut_off_does_not_disturb_a_resume(self, rig: Make, project: Path) -> None:
        from checkrein.runtime.store import SessionStore

        made = rig("allow Echo", tools=[make_tool("Echo", echo)])
        made.writer.user("hello")
        made.host.recorder.tool_started("line_1", "Bash")
        made.close()
        conversation, writer = SessionStore().resume(made.writer.session_id, str(project))
        writer.close()
        assert [message["role"] for message in conversation.messages] == ["user"]


class TestToolsOfHooks:
    """`mcp_tool` hooks call a tool of a server through the host."""

    GUARD = hook(
        "", type="mcp_tool", matcher="Echo", server="guard", tool="check", input={"n": "${tool_input.n}"}
    )

    def test_its_answer_judges_the_call(self, rig: Make) -> None:
        verdict = {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "by the server",
            }
        }
        seen: list[dict[str, Any]] = []

        def check(input: dict[str, Any], context: ToolContext) -> ToolOutput:
            seen.append(input)
            return ToolOutput(content=json.dumps(verdict))

        made = rig(
            "allow Echo",
            "allow mcp__guard",
            tools=[make_tool("Echo", echo), make_tool("mcp__guard__check", check)],
            hooks=[self.GUARD],
        )
        done = made.call("Echo", n=3)
        assert (done.finished.content, done.finished.refused) == ("by the server", True)
        assert seen == [{"n": "3"}]
        (finished,) = made.of(ToolFinished)
        assert (finished.name, finished.caller) == ("mcp__guard__check", "hook")

    def test_rules_bind_it_and_nobody_is_asked(self, rig: Make, project: Path) -> None:
        asker = ScriptedAsker(Answer(verdict="allow"))
        tools = [make_tool("Echo", echo), make_tool("mcp__guard__check")]
        gate = make_gate("allow Echo", root=str(project), asker=asker)
        made = rig(gate=gate, tools=tools, hooks=[self.GUARD])
        assert not made.call("Echo", n=1).finished.is_error, "the hook failed, which blocks nothing"
        assert asker.questions == []
        (finished,) = made.of(ToolFinished)
        assert finished.refused

    def test_it_does_not_judge_its_own_call(self, rig: Make) -> None:
        everything = hook("", type="mcp_tool", server="guard", tool="check")
        tools = [make_tool("Echo", echo), make_tool("mcp__guard__check", "{}")]
        made = rig("allow Echo", "allow mcp__guard", tools=tools, hooks=[everything])
        assert not made.call("Echo").finished.is_error
        assert len(made.of(ToolFinished)) == 1

    def test_what_goes_wrong_is_raised(self, rig: Make) -> None:
        made = rig(
            "deny mcp__guard__shut", tools=[make_tool("mcp__guard__shut"), make_tool("mcp__guard__open")]
        )
        with pytest.raises(NotFoundError, match="gone is not connected"):
            hooked.tool_of_server(made.host, "gone", "x", {}, Cancel(), made.told.append)
        with pytest.raises(PolicyError, match="mcp__guard__shut"):
            hooked.tool_of_server(made.host, "guard", "shut", {}, Cancel(), made.told.append)


def test_what_only_reads_may_run_beside_its_neighbours(rig: Make) -> None:
    made = rig()

    def parallel(name: str, **input: Any) -> bool:
        return made.host.is_parallel(ToolUse("c", name, input))

    assert parallel("Read", file_path="a")
    assert parallel("Bash", command="ls")
    assert not parallel("Bash", command="touch x")
    assert not parallel("Nothing")
    assert not made.host.is_parallel(ToolUse("c", "Read", {}, broken="{"))


def test_closing_ends_hooks_in_the_background_and_frees_the_transcript(rig: Make, project: Path) -> None:
    from checkrein.runtime.store import SessionStore

    made = rig("allow Echo", tools=[make_tool("Echo", echo)], hooks=[hook("sleep 60", run_async=True)])
    made.call("Echo")
    assert SessionStore().holder(made.writer.session_id, str(project)) is not None
    made.close()
    made.close()
    assert SessionStore().holder(made.writer.session_id, str(project)) is None


ENDLESS: dict[str, Any] = {}
ENDLESS["itself"] = ENDLESS


@pytest.mark.parametrize(
    ("structured", "fails"),
    [({"path": Path("a")}, False), ({"a": {1, 2}}, False), ({("a", 1): 2}, False), (ENDLESS, True)],
)
def test_output_that_a_transcript_can_not_keep_is_a_failed_call(
    project: Path, spawner: Spawner, structured: object, fails: bool
) -> None:
    odd = make_tool("Odd", lambda input, context: ToolOutput(content="x", structured=structured))
    rig = Rig(project, make_gate("allow Odd", root=str(project)), spawner, tools=[odd])
    done = rig.call("Odd")
    assert done.finished.is_error is fails
    rig.host.recorder.take(done.finished)
