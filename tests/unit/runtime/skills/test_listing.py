"""The list of skills within its budget, and which skills come back after compaction."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.base.origin import Origin
from checkrein.model.items import Skill
from checkrein.model.view import View
from checkrein.passes.load import load
from checkrein.runtime.skills import usage
from checkrein.runtime.skills.active import EACH_TOKENS, TOTAL_TOKENS, ActiveSkills, skill_text
from checkrein.runtime.skills.invoke import Invocation
from checkrein.runtime.skills.listing import budget, make_listing


@pytest.fixture
def view(tmp_path: Path) -> View:
    (tmp_path / ".git").mkdir()
    for number in range(10):
        folder = tmp_path / f".claude/skills/s{number}"
        folder.mkdir(parents=True)
        text = f"description: {'x' * 91} {number}\nwhen_to_use: W{number}"
        (folder / "SKILL.md").write_text(f"---\n{text}\n---\nBody\n")
    return View(load(tmp_path, env={}, home=str(tmp_path / "home"), managed_dir=str(tmp_path / "managed")))


def lines(text: str) -> list[str]:
    return text.splitlines()[1:]


def test_every_name_is_there_whatever_the_budget(view: View) -> None:
    for chars in (1, 200, 10_000):
        listing = make_listing(view, window=None, env={"SLASH_COMMAND_TOOL_CHAR_BUDGET": str(chars)})
        assert [line[2:].split(":")[0] for line in lines(listing.text)] == [f"s{n}" for n in range(10)]


def test_the_fill_is_the_same_each_time_and_tells_what_was_cut(view: View) -> None:
    env = {"SLASH_COMMAND_TOOL_CHAR_BUDGET": "350"}
    first, second = (make_listing(view, window=None, env=env) for _ in range(2))
    assert first == second
    described = [line for line in lines(first.text) if ": " in line]
    assert len(described) == 3
    assert set(first.cut) == {f"s{n}" for n in range(3, 10)}
    findings = first.diagnostics(view)
    assert [finding.code for finding in findings] == ["LIST001"] * 4
    assert "4 more skills, from `s6` on" in findings[-1].message
    assert findings[0].origin.file.endswith("s3/SKILL.md")
    assert sum(len(line) for line in lines(first.text)) <= 350


def test_skills_that_were_used_are_described_first(view: View) -> None:
    env = {"SLASH_COMMAND_TOOL_CHAR_BUDGET": "150"}
    listing = make_listing(view, window=None, env=env, used=lambda: {"s7": 3, "s2": 1})
    assert [line[2:4] for line in lines(listing.text) if ": " in line] == ["s7"]


def test_loads_are_not_looked_up_when_everything_fits(view: View) -> None:
    def never() -> dict[str, int]:
        raise AssertionError("not needed")

    assert make_listing(view, window=None, env={}, used=never).cut == ()


def test_loads_are_counted_over_sessions(tmp_path: Path) -> None:
    env = {"CHECKREIN_HOME": str(tmp_path / "home")}
    assert usage.counts(env) == {}
    for name in ("b", "a", "b"):
        usage.note(name, env)
    assert usage.counts(env) == {"b": 2, "a": 1}
    (tmp_path / "home/cache/skill-usage.json").write_text("broken")
    assert usage.counts(env) == {}
    usage.note("c", env)
    assert usage.counts(env) == {"c": 1}


def test_the_text_is_description_and_when_to_use_and_is_capped(view: View) -> None:
    assert lines(make_listing(view, window=None, env={}).text)[4].endswith("x 4 W4")


@pytest.mark.parametrize(
    ("window", "env", "chars"),
    [
        (None, {}, 8_000),
        (200_000, {}, 8_000),
        (1_000_000, {}, 40_000),
        (1_000_000, {"SLASH_COMMAND_TOOL_CHAR_BUDGET": "123"}, 123),
        (None, {"SLASH_COMMAND_TOOL_CHAR_BUDGET": "many"}, 8_000),
    ],
)
def test_budgets(view: View, window: int | None, env: dict[str, str], chars: int) -> None:
    assert budget(view, window, env) == chars


@pytest.mark.parametrize(("fraction", "chars"), [(0.02, 16_000), (1, 800_000), (0, 8_000), (2, 8_000)])
def test_the_share_of_the_window(tmp_path: Path, fraction: float, chars: int) -> None:
    settings = {"skillListingBudgetFraction": fraction, "skillListingMaxDescChars": 5}
    (tmp_path / "p/.claude/skills/a").mkdir(parents=True)
    (tmp_path / "p/.claude/skills/a/SKILL.md").write_text("---\ndescription: 123456789\n---\n")
    view = View(load(tmp_path / "p", env={}, home=str(tmp_path / "home"), settings=settings))
    assert budget(view, 200_000, {}) == chars
    assert lines(make_listing(view, window=200_000, env={}).text) == ["- a: 12345"]


def invocation(name: str, size: int) -> Invocation:
    item = Skill(name=name, origin=Origin(f"/{name}", "project"), directory=f"/{name}")
    return Invocation(name=name, text=f"{name} " + "x" * size, args="", item=item)


class TestReattachment:
    def test_newest_first_each_cut_while_the_total_lasts(self) -> None:
        active = ActiveSkills()
        for number in range(8):
            active.note(invocation(f"s{number}", EACH_TOKENS * 5))
        blocks = active.reattached()
        texts = [getattr(block, "text", "") for block in blocks]
        assert [text.split("Skill ")[1][:2] for text in texts] == ["s7", "s6", "s5", "s4", "s3"]
        bodies = [len(text.split("\n\n", 1)[1]) for text in texts]
        assert all(size <= EACH_TOKENS * 4 + 40 for size in bodies)
        assert sum(bodies) <= TOTAL_TOKENS * 4 + 200

    def test_small_ones_come_back_byte_for_byte(self) -> None:
        active = ActiveSkills()
        one = invocation("one", 100)
        active.note(one)
        active.note(invocation("two", 100))
        active.note(one)
        first, second = active.reattached()
        assert skill_text(one) in getattr(first, "text", "")
        assert "two" in getattr(second, "text", "")
        assert active.reattached() == (first, second)

    def test_what_did_not_come_back_is_said_again(self) -> None:
        active = ActiveSkills()
        small, large = invocation("small", 10), invocation("large", EACH_TOKENS * 5)
        for one in (small, large):
            active.note(one)
            assert active.show(one)
            assert not active.show(one)
        active.reattached()
        assert not active.show(small)
        assert active.show(large)
