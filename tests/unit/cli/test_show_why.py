"""`show`, `why` and `check` on the example project and on broken ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkrein.cli.main import run

EXAMPLE = Path(__file__).parents[3] / "examples" / "first"


@pytest.fixture(autouse=True)
def _inside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLE)


def test_the_example_is_shown_whole(ask) -> None:
    data = ask("show")
    assert data["dialect"] == "claude_code"
    names = {(row["kind"], row["name"]) for row in data["rows"]}
    assert {("skill", "fix-failing-test"), ("agent", "reviewer"), ("rule", "Bash(rm *)")} <= names


def test_one_kind_and_one_thing(ask) -> None:
    assert {row["kind"] for row in ask("show", "rules")["rows"]} == {"rule"}
    (item,) = ask("show", "reviewer")["items"]
    assert item["tools"] == ["Read", "Grep", "Glob"]
    assert item["origin"]["file"].endswith("reviewer.md")


def test_detection_prints_signals(ask) -> None:
    found = ask("show", "--detect")["detection"]
    assert found["dialect"] == "claude_code"
    assert any(signal["id"] == "DET-01" for signal in found["signals"])


def test_the_example_is_clean(ask) -> None:
    assert ask("check", str(EXAMPLE))["findings"] == []


@pytest.mark.parametrize(
    ("thing", "kind"),
    [
        ("Bash(rm -rf build)", "call"),
        ("CLAUDE.md", "path"),
        ("shop/price.py", "path"),
        ("reviewer", "name"),
        ("PostToolUse", "name"),
        ("permissions.deny", "key"),
        ("permissions", "key"),
    ],
)
def test_things_are_understood(ask, thing: str, kind: str) -> None:
    data = ask("why", thing)
    assert data["kind"] == kind
    assert data.get("explanations") or data.get("decisions")


def test_a_call_names_every_piece(ask) -> None:
    decision = ask("why", "Bash(git status && rm -rf build)")["decisions"]["Bash(git status && rm -rf build)"]
    assert decision["verdict"] == "deny"
    assert decision["origin"]["span"]["line"] == 5
    assert [piece["verdict"] for piece in decision["trace"]] == ["allow", "deny"]


def test_several_calls_are_a_table(ask, capsys: pytest.CaptureFixture[str]) -> None:
    calls = ["Bash(git status)", "Bash(rm -rf build)", "Write(shop/new.py)"]
    data = ask("why", *calls)
    assert (data["kind"], data["mode"]) == ("call", "default")
    assert [(call, one["verdict"]) for call, one in data["decisions"].items()] == [
        (calls[0], "allow"),
        (calls[1], "deny"),
        (calls[2], "ask"),
    ]
    assert run(["why", *calls, "--mode", "acceptEdits"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows if not row.startswith(" ")] == ["allow", "deny", "allow"]
    assert "Bash(rm *)  .claude/settings.json:5" in rows[1] + rows[2]
    assert any("The mode is acceptEdits; in the mode default the verdict is ask." in row for row in rows)


@pytest.mark.parametrize(
    "argv",
    [
        ["Bash(ls)", "reviewer"],
        ["reviewer", "--mode", "plan"],
        ["permissions.deny", "--trusted"],
        ["Bash(ls)", "--prompt"],
        ["Bash(ls)", "--mode", "plann"],
        [],
    ],
)
def test_why_is_asked_about_one_thing_or_about_calls(ask, argv: list[str]) -> None:
    assert run(["why", *argv]) == 2


def test_trust_is_part_of_the_answer(ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".claude").mkdir()
    settings = {"permissions": {"allow": ["Bash(make *)", "Read(//opt/**)"]}}
    (tmp_path / ".claude" / "settings.json").write_text(json.dumps(settings))
    data = ask("why", "Bash(make x)")
    assert data["trust"] == {"trusted": False, "reason": "This project was never trusted."}
    assert data["decisions"]["Bash(make x)"]["verdict"] == "ask"
    assert ask("why", "/opt/a")["decisions"]["Read(/opt/a)"]["verdict"] == "ask"
    assert ask("why", "/opt/a", "--trusted")["decisions"]["Read(/opt/a)"]["verdict"] == "allow"


def test_an_import_names_its_importer(ask) -> None:
    (found,) = ask("why", "docs/style.md")["explanations"]
    assert any("CLAUDE.md:6" in note for note in found["notes"])


def test_a_key_names_every_element(ask) -> None:
    (found,) = ask("why", "permissions.deny")["explanations"]
    assert found["value"] == ["Bash(rm *)", "Bash(git push *)", "Read(.env*)"]
    assert {link["origin"]["span"]["line"] for link in found["chain"]} == {5}


def test_forcing_a_kind(ask) -> None:
    assert ask("why", "reviewer", "--kind", "key", status=1)["kind"] == "thing_not_found"


def test_unknown_things_get_the_nearest_name(ask) -> None:
    error = ask("why", "reviwer", status=1)
    assert "'reviewer'" in error["hint"]


@pytest.fixture
def two_scopes(tmp_path: Path, _own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for base, words in ((tmp_path / "p" / ".claude", "project"), (_own_home / ".claude", "user")):
        skill = base / "skills" / "one" / "SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text(f"---\nname: one\ndescription: Use when the {words} wants it.\n---\nDo.\n")
    token = "sk-ant-" + "a1B2" * 8
    (tmp_path / "p" / ".claude" / "settings.json").write_text(json.dumps({"env": {"MY_TOKEN": token}}))
    monkeypatch.chdir(tmp_path / "p")
    return tmp_path / "p"


def test_a_shadowed_skill_says_why(two_scopes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", "one"]) == 0
    text = capsys.readouterr().out
    assert "user wants it" in text
    assert "✗ project" in text
    assert run(["show", "skills"]) == 0
    assert "shadowed" in capsys.readouterr().out


def test_secrets_are_never_printed(two_scopes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for argv in (
        ["show"],
        ["show", "--json"],
        ["show", "-a"],
        ["why", "env"],
        ["why", "env.MY_TOKEN", "--json"],
        ["check"],
    ):
        run(argv)
        out = capsys.readouterr()
        assert "a1B2" not in out.out + out.err
        assert "MY_TOKEN" in out.out or argv == ["show"]


class TestCheckFormats:
    @pytest.fixture
    def broken(self, tmp_path: Path) -> Path:
        skill = tmp_path / ".claude" / "skills" / "bad" / "SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text("---\nname: bad\ndescripton: Use when bad: things happen.\n---\nBody\n")
        return tmp_path

    def test_text_has_place_excerpt_reason_and_fix(
        self, broken: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(["check", str(broken)]) == 1
        text = capsys.readouterr().out
        assert "SKILL.md:3:1" in text
        assert "| descripton:" in text
        assert "^" in text
        assert "why:" in text
        assert "fix:" in text

    def test_sarif(self, broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
        run(["check", str(broken), "--format", "sarif"])
        document = json.loads(capsys.readouterr().out)
        assert document["version"] == "2.1.0"
        results = document["runs"][0]["results"]
        rules = {rule["id"] for rule in document["runs"][0]["tool"]["driver"]["rules"]}
        assert results
        assert {result["ruleId"] for result in results} <= rules
        location = results[0]["locations"][0]["physicalLocation"]
        assert location["artifactLocation"]["uri"] == ".claude/skills/bad/SKILL.md"

    def test_github(self, broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
        run(["check", str(broken), "--format", "github"])
        lines = capsys.readouterr().out.splitlines()
        assert all(line.startswith("::") for line in lines)
        assert any("line=3" in line for line in lines)

    def test_select_ignore_and_fail_on(self, broken: Path) -> None:
        assert run(["check", str(broken), "--select", "PL"]) == 0
        assert run(["check", str(broken), "--ignore", "AS,CC,FM,XP"]) == 0
        assert run(["check", str(broken), "--select", "FM", "--fail-on", "error"]) == 0

    def test_baseline(self, broken: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file = str(tmp_path / "base.json")
        assert run(["check", str(broken), "--baseline", file, "--write-baseline"]) == 0
        assert run(["check", str(broken), "--baseline", file]) == 0
        assert "known from the baseline" in capsys.readouterr().out

    def test_fix_mends_and_is_stable(self, broken: Path) -> None:
        file = broken / ".claude/skills/bad/SKILL.md"
        file.write_text("---\nname: bad\ndescripton: Use when bad.\ndisallowed_tools: Read\n---\nBody\n")
        run(["check", str(broken), "--fix"])
        text = file.read_text()
        assert "disallowed-tools: Read" in text
        assert "descripton" in text
        run(["check", str(broken), "--fix"])
        assert file.read_text() == text
        run(["check", str(broken), "--fix", "--unsafe-fixes"])
        assert "description: Use when bad." in file.read_text()

    def test_explain(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["check", "--explain", "FM001"]) == 0
        assert "FM001" in capsys.readouterr().out
        assert run(["check", "--explain", "ZZ999"]) == 1


def place(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def switched_off(tmp_path: Path, _own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which a hook, a server, a command and two instruction files are read and not in effect."""
    hook = {"matcher": "Bash", "hooks": [{"type": "command", "command": "guard --token hunter2x"}]}
    settings = {
        "disableAllHooks": True,
        "disabledMcpjsonServers": ["off"],
        "claudeMdExcludes": ["**/sub/CLAUDE.md"],
        "hooks": {"PreToolUse": [hook]},
        "env": {"A_TOKEN": "hunter2x", "PLAIN": "hunter2y"},
        "permissions": {"deny": ["Read(.env)"]},
    }
    servers = {
        "off": {"command": "off"},
        "on": {"command": "npx", "args": ["--api-key", "hunter2x", "--token=hunter2y"]},
    }
    root = tmp_path / "p"
    place(
        root,
        {
            ".claude/settings.json": json.dumps(settings),
            ".mcp.json": json.dumps({"mcpServers": servers}),
            ".claude/skills/one/SKILL.md": "---\nname: one\ndescription: One.\n---\nDo.\n",
            ".claude/commands/one.md": "Do it.\n",
            "CLAUDE.md": "Root.\n",
            "AGENTS.md": "Others.\n",
            "sub/CLAUDE.md": "Sub.\n",
            "pkg/CLAUDE.md": "Package.\n",
        },
    )
    (root / ".git").mkdir()
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize(
    ("thing", "kind", "reason"),
    [
        ("PreToolUse", "hook", "`disableAllHooks` is set"),
        ("off", "server", "`disabledMcpjsonServers` names it"),
        ("AGENTS.md", "instruction", "does not read AGENTS.md"),
        (".claude/commands/one.md", "command", "the skill of the same name wins"),
        ("sub/CLAUDE.md", "instruction", "`claudeMdExcludes` names it"),
    ],
)
def test_what_is_not_in_effect_is_explained(
    switched_off: Path, thing: str, kind: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["why", thing, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["data"]["explanations"]
    assert found["kind"] == kind
    assert any(note.startswith("not in effect: ") and reason in note for note in found["notes"])


def test_a_command_behind_a_skill_is_explained_with_it(
    switched_off: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["why", "one"]) == 0
    text = capsys.readouterr().out
    assert text.index("skill one") < text.index("command one")
    assert "not in effect: the skill of the same name wins" in text


def test_a_memory_file_below_is_loaded_later(switched_off: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", "pkg/CLAUDE.md"]) == 0
    assert "loaded when a file beside or below it is read" in capsys.readouterr().out


def test_a_file_that_is_not_there_is_a_path_all_the_same(
    switched_off: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["why", ".env"]) == 0
    text = capsys.readouterr().out
    assert "not part of the project's configuration" in text
    assert "deny  Read(.env)" in text


def test_show_says_how_much_is_off_and_all_says_why(
    switched_off: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["show"]) == 0
    text = capsys.readouterr().out
    assert "not in effect: 1 instruction, 1 command, 1 hook, 1 server" in text
    assert "guard" not in text
    assert "checkrein show settings" in text
    assert run(["show", "--all"]) == 0
    text = capsys.readouterr().out
    assert "off: `disableAllHooks` is set" in text
    assert "off: `disabledMcpjsonServers` names it" in text
    assert run(["show", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["counts"]["hook"] == 0


def test_one_thing_that_is_off_is_shown_with_the_reason(
    switched_off: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["show", "AGENTS.md"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("instruction AGENTS.md")
    assert "not in effect: Claude Code does not read AGENTS.md" in text


@pytest.mark.parametrize(
    "argv",
    [["show"], ["show", "-a"], ["show", "on"], ["show", "env"], ["show", "PreToolUse"], ["show", "hooks"],
     ["why", "on"], ["why", "env"], ["why", "env.A_TOKEN"], ["why", "PreToolUse"], ["why", "hooks"],
     ["why", ".claude/settings.json"], ["why", ".mcp.json"], ["check"], ["check", "--format", "sarif"]],
    ids=" ".join,
)  # fmt: skip
def test_no_command_shows_a_secret(
    switched_off: Path, argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for extra in ([], ["--json"]):
        run([*argv, *extra])
        captured = capsys.readouterr()
        assert "hunter2" not in captured.out + captured.err


def test_an_environment_keeps_its_names(switched_off: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", "env"]) == 0
    text = capsys.readouterr().out
    assert 'env = {"A_TOKEN":"‹redacted›","PLAIN":"‹redacted›"}' in text
    assert "env.PLAIN = ‹redacted›" in text


def test_a_wrong_kind_gets_the_right_one(switched_off: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", "skils"]) == 1
    assert "Did you mean 'skills'?" in capsys.readouterr().err


@pytest.mark.parametrize("what", ["skill", "skills", "rule", "permissions", "server", "mcp", "memory"])
def test_kinds_are_named_in_singular_and_plural(
    switched_off: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["show", what, "--json"]) == 0
    assert len({row["kind"] for row in json.loads(capsys.readouterr().out)["data"]["rows"]}) == 1


@pytest.fixture
def every_scope(tmp_path: Path, _own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One name in each scope: managed, local, project, user, and in a plugin of the user's."""
    root = tmp_path / "p"
    managed = tmp_path / "managed"
    plugin = _own_home / ".claude/plugins/cache/acme/tidy/1.0.0"
    place(
        tmp_path,
        {
            "managed/managed-settings.json": json.dumps({"model": "managed"}),
            "p/.claude/settings.local.json": json.dumps({"model": "local"}),
            "p/.claude/settings.json": json.dumps({"model": "project"}),
            "p/.claude/agents/tester.md": "---\nname: tester\ndescription: Project.\n---\nTest.\n",
        },
    )
    place(
        _own_home,
        {
            ".claude/settings.json": json.dumps({"model": "user", "enabledPlugins": {"tidy@acme": True}}),
            ".claude/agents/tester.md": "---\nname: tester\ndescription: User.\n---\nTest.\n",
            ".claude/plugins/installed_plugins.json": json.dumps(
                {"version": 1, "plugins": {"tidy@acme": {"version": "1.0.0", "installPath": str(plugin)}}}
            ),
        },
    )
    place(
        plugin,
        {
            ".claude-plugin/plugin.json": json.dumps({"name": "tidy", "version": "1.0.0"}),
            "skills/fmt/SKILL.md": "---\nname: fmt\ndescription: Format.\n---\nFormat.\n",
            "agents/helper.md": "---\nname: helper\ndescription: Help.\n---\nHelp.\n",
        },
    )
    monkeypatch.setattr("checkrein.facts.claude.managed_dir", lambda *_: str(managed))
    monkeypatch.chdir(root)
    return root


def test_a_plugin_and_its_parts(every_scope: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", "tidy"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("plugin tidy@acme = 1.0.0")
    assert "brings 1 skill, 1 agent" in text
    assert run(["why", "tidy:fmt"]) == 0
    assert "plugin" in capsys.readouterr().out


def test_every_scope_is_in_the_chain(every_scope: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", "model", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["data"]["explanations"]
    scopes = [link["scope"] for link in found["chain"]]
    assert scopes == ["managed", "local", "project", "user"]
    assert [link["lost"] is None for link in found["chain"]] == [True] + [False] * (len(scopes) - 1)


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        ("permissions.dney", "Did you mean 'permissions.deny'?"),
        ("outputStyle", "a settings key that no file sets"),
        ("sandbox.enabled", "a settings key that no file sets"),
    ],
)
def test_a_key_that_is_not_set(
    switched_off: Path, thing: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["why", thing]) == 1
    assert said in capsys.readouterr().err


def test_a_forced_kind_that_does_not_fit(switched_off: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", "one", "--kind", "key"]) == 1
    assert "leave --kind out" in capsys.readouterr().err


@pytest.mark.parametrize("call", ["Skill(one)", "Skill(one fast)", "Agent(Explore)", "Task(Explore)"])
def test_calls_of_skills_and_agents(
    switched_off: Path, call: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["why", call, "--json"]) == 0
    assert call in json.loads(capsys.readouterr().out)["data"]["decisions"]


def test_a_file_is_shown_as_what_it_is(switched_off: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", ".claude/skills/one/SKILL.md"]) == 0
    assert capsys.readouterr().out.startswith("skill one")


@pytest.mark.parametrize("flags", [("--trusted", "--untrusted"), ("--untrusted", "--trusted")])
def test_a_flag_and_its_opposite(capsys: pytest.CaptureFixture[str], flags: tuple[str, str]) -> None:
    assert run(["why", "Bash(ls)", *flags]) == 2
    assert "--trusted and --untrusted exclude each other" in capsys.readouterr().err
    assert run(["why", "Bash(ls)", flags[0], flags[0]]) == 0
