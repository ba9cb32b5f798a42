"""What a program imports from `checkrein`."""

from __future__ import annotations

import ast
import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import checkrein
from checkrein.testing import Call, ScriptedModel, Turn

SOURCE = Path(checkrein.__file__).read_text("utf-8")


def test_each_name_is_declared_in_all_places() -> None:
    """Lazily, for type checkers, and as public."""
    block = next(node for node in ast.parse(SOURCE).body if isinstance(node, ast.If))
    typed = {
        alias.asname: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == checkrein._EXPORTS
    assert {*checkrein.__all__} == {*typed, "__version__"}


def test_what_a_look_at_the_module_shows() -> None:
    """The public names and what every package has, whatever was imported before."""
    assert "TYPE_CHECKING" in vars(checkrein)
    assert "testing" in vars(checkrein)
    plain = {
        "__all__",
        "__doc__",
        "__file__",
        "__loader__",
        "__name__",
        "__package__",
        "__path__",
        "__spec__",
    }
    assert dir(checkrein) == sorted({*checkrein.__all__, *plain})
    assert plain <= {*vars(checkrein)}


@pytest.mark.parametrize("name", checkrein.__all__)
def test_each_name_is_there(name: str) -> None:
    assert getattr(checkrein, name) is not None


def test_an_unknown_name() -> None:
    with pytest.raises(AttributeError, match="'checkrein' has no attribute 'ran'"):
        _ = checkrein.ran


def scripted(*turns: Turn) -> ScriptedModel:
    return ScriptedModel(turns)


def project(root: Path, **permissions: list[str]) -> Path:
    (root / ".claude").mkdir()
    (root / ".claude" / "settings.json").write_text(json.dumps({"permissions": permissions}))
    return root


class TestRun:
    def test_awaited(self, tmp_path: Path) -> None:
        async def main() -> checkrein.Result:
            return await checkrein.run("hi", tmp_path, model=scripted(Turn(text="hello")))

        assert asyncio.run(main()).raise_for_error().text == "hello"

    def test_iterated(self, tmp_path: Path) -> None:
        async def main() -> list[checkrein.Event]:
            return [
                event async for event in checkrein.run("hi", tmp_path, model=scripted(Turn(text="hello")))
            ]

        told = asyncio.run(main())
        assert isinstance(told[0], checkrein.events.SessionStarted)
        assert isinstance(told[-1], checkrein.events.Finished)

    def test_a_failure_is_raised_when_it_is_asked_for(self, tmp_path: Path) -> None:
        options = checkrein.Options(budget=checkrein.Budget(requests=0))
        result = checkrein.run_sync("hi", tmp_path, model=scripted(), options=options)
        with pytest.raises(checkrein.RunError, match="limit of 0 requests") as failure:
            result.raise_for_error()
        assert (failure.value.kind, failure.value.target) == ("max_turns", result.session_id)
        assert failure.value.details["result"] is result


class TestTool:
    """A tool of a program goes the way of every other."""

    @staticmethod
    def shouting(seen: list[dict[str, Any]]) -> checkrein.Tool:
        def shout(input: dict[str, Any], context: checkrein.ToolContext) -> checkrein.ToolOutput:
            seen.append(input)
            if not input["text"]:
                raise checkrein.ToolFailure("Nothing to shout.")
            return checkrein.ToolOutput(content=input["text"].upper())

        schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        declaration = checkrein.ToolDeclaration(
            name="Shout", schema=schema, description="Shout a text.", eager=True
        )
        return checkrein.Tool(declaration=declaration, work=shout)

    def run(self, root: Path, *words: object, **options: Any) -> tuple[list[Any], list[dict[str, Any]]]:
        seen: list[dict[str, Any]] = []
        turns = [*(Turn(tool_calls=(Call("Shout", {"text": word}),)) for word in words), Turn(text="done")]
        chosen = checkrein.Options(persist=False, **options)
        with checkrein.Session(
            root, model=ScriptedModel(turns), options=chosen, tools=[self.shouting(seen)]
        ) as session:
            told = list(session.run("go"))
        return [one for one in told if isinstance(one, checkrein.events.ToolFinished)], seen

    def test_allowed_by_a_rule_it_runs(self, tmp_path: Path) -> None:
        (done, failed), seen = self.run(tmp_path, "hi", "", allowed=("Shout",))
        assert (done.content, done.verdict) == ("HI", "allow")
        assert (failed.content, failed.is_error) == ("Nothing to shout.", True)
        assert seen == [{"text": "hi"}, {"text": ""}]

    def test_without_a_rule_it_does_not(self, tmp_path: Path) -> None:
        (done,), seen = self.run(tmp_path, "hi")
        assert done.refused
        assert seen == []

    def test_a_deny_rule_of_the_project_takes_it_away(self, tmp_path: Path) -> None:
        (done,), seen = self.run(project(tmp_path, deny=["Shout"]), "hi", allowed=("Shout",))
        assert "no tool 'Shout'" in done.content
        assert seen == []

    def test_its_input_is_checked(self, tmp_path: Path) -> None:
        (done,), seen = self.run(tmp_path, ["no", "text"], allowed=("Shout",))
        assert done.is_error
        assert seen == []


class TestEffects:
    """`checkrein.effects` says which input fields the rules for built-in tools judge."""

    @staticmethod
    def tool(name: str, **fields: Any) -> checkrein.Tool:
        names = [field for given in fields.values() for field in given]
        schema = {"type": "object", "properties": {field: {"type": "string"} for field in names}}
        return checkrein.Tool(
            declaration=checkrein.ToolDeclaration(name=name, schema=schema, description="Act.", eager=True),
            work=lambda input, context: checkrein.ToolOutput(content="done"),
            effects=checkrein.effects(name, **fields),
        )

    @pytest.mark.parametrize(
        ("fields", "rule", "denied", "fine"),
        [
            ({"reads": ("a", "b")}, "Read(.env)", {"a": "x", "b": ".env"}, {"a": "x", "b": "y"}),
            ({"writes": ("a",)}, "Edit(.env)", {"a": ".env"}, {"a": "x"}),
            ({"commands": ("a", "b")}, "Bash(rm *)", {"a": "ls", "b": "rm x"}, {"a": "ls", "b": "pwd"}),
            ({"urls": ("a",)}, "WebFetch(domain:b.c)", {"a": "https://b.c/"}, {"a": "https://b.d/"}),
        ],
    )
    def test_rules_judge_it(
        self,
        tmp_path: Path,
        fields: dict[str, tuple[str, ...]],
        rule: str,
        denied: dict[str, str],
        fine: dict[str, str],
    ) -> None:
        turns = [Turn(tool_calls=(Call("Act", input),)) for input in (denied, fine)]
        root = project(tmp_path, deny=[rule])
        options = checkrein.Options(persist=False, mode="bypassPermissions", allow_bypass=True)
        with checkrein.Session(
            root,
            model=ScriptedModel([*turns, Turn(text="done")]),
            options=options,
            tools=[self.tool("Act", **fields)],
        ) as session:
            told = [one for one in session.run("go") if isinstance(one, checkrein.events.ToolFinished)]
        assert [one.refused for one in told] == [True, False]

    def test_they_belong_to_the_tool(self) -> None:
        """The effects of another name would take the place of that tool's own."""
        declaration = checkrein.ToolDeclaration(name="Act", schema={}, description="Act.")
        with pytest.raises(ValueError, match="'Act' are those of 'Read'"):
            checkrein.Tool(
                declaration=declaration,
                work=lambda input, context: checkrein.ToolOutput(content=""),
                effects=checkrein.effects("Read"),
            )


def test_decisions_of_a_project(tmp_path: Path) -> None:
    loaded = checkrein.load(project(tmp_path, deny=["Bash(rm *)"]))
    call = checkrein.Call("Bash", {"command": "rm -rf x"})
    decision = checkrein.decide(checkrein.policy_of(loaded), call, checkrein.Context(cwd=str(tmp_path)))
    assert (decision.verdict, decision.rule) == ("deny", "Bash(rm *)")
    assert decision.origin is not None
    assert decision.origin.file.endswith("settings.json")


def test_deploy_and_compile(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "skills" / "greet"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(
        "---\nname: greet\ndescription: Greets.\n---\n1. Say hello.\n2. Say bye.\n"
    )
    planned = checkrein.deploy_project(tmp_path, "codex", dry_run=True)
    assert planned.applied is None
    assert not (tmp_path / ".codex").exists()
    done = checkrein.deploy_project(tmp_path, ["codex"])
    assert done.applied is not None
    assert done.applied.written
    package = checkrein.compile_skill(folder / "SKILL.md", tmp_path / "out")
    assert package.written
    assert (tmp_path / "out" / package.package).is_dir()
    assert not checkrein.compile_skill(folder / "SKILL.md", tmp_path / "out", dry_run=True).stale
