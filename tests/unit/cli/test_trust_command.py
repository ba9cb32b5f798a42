"""`checkrein trust`: shows, asks, refuses without a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest

from checkrein.base.errors import NotFoundError
from checkrein.cli import trust as command
from checkrein.cli import trust_text
from checkrein.cli.registry import Outcome
from checkrein.cli.trust import Payload


class Terminal:
    def __init__(self, tty: bool) -> None:
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty


SAYS_HI = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo hi"}]}]}}
pytestmark = pytest.mark.project({".claude/settings.json": SAYS_HI}, git=False)


def write(root: Path, settings: dict[str, Any]) -> None:
    (root / ".claude" / "settings.json").write_text(json.dumps(settings, indent=1))


def run(path: Path, **options: Any) -> Outcome:
    given: dict[str, Any] = {"revoke": False, "list_": False, "yes": False, "env": ()} | options
    return command.run(str(path), **given)


def text(outcome: Outcome) -> str:
    assert outcome.text is not None
    return click.unstyle(outcome.text())


def test_without_a_terminal_the_answer_is_no(project: Path) -> None:
    outcome = run(project)
    assert outcome.status == 1
    assert not outcome.data.trusted
    assert "echo hi" in text(outcome)
    assert "settings.json:6" in text(outcome), "with file and line"
    assert "--yes" in text(outcome)


def test_yes_trusts_once(project: Path) -> None:
    assert run(project, yes=True).data.trusted
    again = run(project)
    assert (again.status, again.data.trusted) == (0, True)
    assert "is trusted" in text(again)


@pytest.mark.parametrize("answer", [True, False])
def test_a_terminal_is_asked(project: Path, monkeypatch: pytest.MonkeyPatch, answer: bool) -> None:
    shown: list[str] = []
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin", Terminal(True))
    monkeypatch.setattr("sys.stderr", Terminal(True))
    monkeypatch.setattr(click, "echo", lambda message, err, nl: shown.append(click.unstyle(message)))

    def confirm(question: str, default: bool, err: bool) -> bool:
        asked.append(question)
        assert default is False
        return answer

    monkeypatch.setattr(click, "confirm", confirm)
    outcome = run(project)
    assert len(asked) == 1
    assert "echo hi" in shown[0]
    assert outcome.data.trusted is answer
    assert outcome.status == (0 if answer else 1)


def test_a_change_is_named(project: Path) -> None:
    run(project, yes=True)
    write(project, {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo evil"}]}]}})
    outcome = run(project)
    assert outcome.status == 1
    assert [(one.change, one.label) for one in outcome.data.changes] == [
        ("added", "hook Stop: echo evil"),
        ("removed", "hook Stop: echo hi"),
    ]
    assert "has changed since you trusted it" in text(outcome)


def test_revoke_and_list(project: Path) -> None:
    assert text(run(project, list_=True)) == "No project is trusted."
    run(project, yes=True)
    listed = run(project, list_=True)
    assert [one.root for one in listed.data.projects] == [str(project)]
    assert str(project) in text(listed)
    assert "no longer trusted" in text(run(project, revoke=True))
    assert "was not trusted" in text(run(project, revoke=True))
    assert run(project).status == 1


def test_nothing_to_trust(project: Path) -> None:
    write(project, {})
    outcome = run(project)
    assert (outcome.status, outcome.data.items) == (0, ())
    assert "Nothing in this project" in text(outcome)


def test_guarded_variables(project: Path) -> None:
    write(project, {"env": {"PATH": "/x", "FOO": "1"}})
    outcome = run(project, yes=True)
    assert {item.label: item.guarded for item in outcome.data.items} == {"PATH=/x": True, "FOO=1": False}
    assert "Left out unless --env names them: PATH." in text(outcome)
    again = run(project, env=("PATH",))
    assert again.status == 1, "trusted, but the variable was not approved yet"
    named = run(project, yes=True, env=("PATH",))
    assert named.data.approved_env == ("PATH",)
    assert "Left out" not in text(named)
    with pytest.raises(NotFoundError) as error:
        run(project, yes=True, env=("PAHT",))
    assert "PATH" in str(error.value)


def test_a_missing_project(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        run(tmp_path / "nowhere")


def test_a_projects_words_can_not_paint_over_the_list(project: Path) -> None:
    write(
        project,
        {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "evil\x1b[2K\rgood\n\u202egood"}]}]}},
    )
    shown = text(run(project))
    assert "\x1b" not in shown
    assert "\r" not in shown
    assert "\u202e" not in shown
    assert "evil\\x1b[2K\\rgood\\n\\u202egood" in shown


def test_a_broken_store_is_told() -> None:
    assert trust_text.listing(Payload(problem="it is broken")) == "it is broken"
    assert "it is broken" in trust_text.surface(Payload(root="/p", problem="it is broken"))
