from __future__ import annotations

import time
from typing import Any

import pytest

from checkrein.base.errors import UsageError
from checkrein.facts.timers import MOST_JOBS
from checkrein.runtime.timers.jobs import Jobs

START = time.mktime((2026, 1, 2, 9, 0, 30, 0, 0, -1))
DAY = 86_400.0


class Book:
    """Jobs with a clock in the hand."""

    def __init__(self, now: float = START) -> None:
        self.now = now
        self.saved: list[dict[str, Any]] = []
        self.jobs = Jobs(self.save, lambda: self.now)

    def save(self, jobs: list[dict[str, Any]]) -> None:
        self.saved = jobs

    def due(self) -> list[str]:
        return [wake.text for wake in self.jobs.due()]

    def all_due(self) -> list[str]:
        found: list[str] = []
        while more := self.due():
            found += more
        return found


@pytest.fixture
def book() -> Book:
    return Book()


def test_a_job_is_due_at_its_minute_again_and_again(book: Book) -> None:
    book.jobs.create("*/5 * * * *", "look")
    assert book.due() == []
    book.now += 270
    assert book.all_due() == ["look"]
    book.now += 299
    assert book.due() == []
    book.now += 1
    assert book.due() == ["look"]


def test_what_was_missed_comes_once(book: Book) -> None:
    book.jobs.create("* * * * *", "look")
    book.now += 3600
    assert book.all_due() == ["look"]


def test_one_at_a_time_and_the_oldest_first(book: Book) -> None:
    book.jobs.create("10 9 * * *", "late")
    book.jobs.create("5 9 * * *", "early")
    gone = book.jobs.create("7 9 * * *", "deleted")
    book.now += 3600
    assert book.due() == ["early"]
    assert book.jobs.delete(gone.id) == gone
    assert book.due() == ["late"]
    assert book.due() == []


def test_once_is_once(book: Book) -> None:
    book.jobs.create("5 9 2 1 *", "remind", recurring=False)
    book.now += 400 * DAY
    assert book.all_due() == ["remind"]
    assert book.jobs.listed() == []
    assert book.saved == []


def test_a_recurring_job_ends_after_seven_days(book: Book) -> None:
    book.jobs.create("0 12 * * *", "noon")
    fired = []
    for _ in range(20):
        book.now += DAY / 2
        fired += book.all_due()
    assert fired == ["noon"] * 7
    assert book.jobs.listed() == []


def test_the_last_run_says_so(book: Book) -> None:
    book.jobs.create("0 12 * * *", "noon")
    said = []
    for _ in range(7):
        book.now += DAY
        said += [wake.event.text for wake in book.jobs.due()]  # type: ignore[union-attr]
    assert ["expired" in text for text in said] == [False] * 6 + [True]


def test_an_expired_job_is_not_due_any_more(book: Book) -> None:
    book.jobs.create("* * * * *", "look")
    book.now += 8 * DAY
    assert book.due() == []
    assert book.jobs.listed() == []


def test_a_job_that_would_expire_first_is_refused(book: Book) -> None:
    with pytest.raises(UsageError, match="Set recurring to false"):
        book.jobs.create("0 9 1 7 *", "summer")
    assert book.jobs.create("0 9 1 7 *", "summer", recurring=False).when == "2026-07-01 09:00"


def test_more_than_the_limit_are_refused(book: Book) -> None:
    for number in range(MOST_JOBS):
        book.jobs.create("* * * * *", f"job {number}")
    for number in range(10):
        with pytest.raises(UsageError, match="at most 50"):
            book.jobs.create("* * * * *", f"more {number}")
    assert len(book.saved) == MOST_JOBS


@pytest.mark.parametrize("prompt", ["", " \n", "x" * 8_001])
def test_prompts_have_limits(book: Book, prompt: str) -> None:
    for make in (lambda: book.jobs.create("* * * * *", prompt), lambda: book.jobs.wake(60, prompt)):
        with pytest.raises(UsageError, match="The prompt of a job"):
            make()


class TestTheClock:
    def test_backwards_by_a_little_changes_nothing(self, book: Book) -> None:
        book.jobs.create("1 9 * * *", "look")
        book.now += 30
        assert book.due() == ["look"]
        book.now -= 20
        assert book.due() == []
        book.now += 25
        assert book.due() == []

    def test_backwards_by_a_year_keeps_the_pace(self, book: Book) -> None:
        book.jobs.create("*/5 * * * *", "look")
        wake = book.jobs.wake(600, "woken")
        book.now -= 365 * DAY
        assert book.due() == []
        book.now += 300
        assert book.due() == ["look"]
        book.now += 300
        assert sorted(book.all_due()) == ["look", wake.prompt]
        book.now += 8 * DAY
        assert book.due() == []

    def test_forwards_by_a_day_is_one_run(self, book: Book) -> None:
        book.jobs.create("*/5 * * * *", "look")
        book.now += DAY
        assert book.all_due() == ["look"]


class TestWakeUps:
    @pytest.mark.parametrize(("asked", "waits"), [(-5, 60), (1, 60), (61, 61), (10**12, 3600)])
    def test_limits(self, book: Book, asked: int, waits: int) -> None:
        assert book.jobs.wake(asked, "again").due == START + waits

    def test_a_new_one_replaces_the_last(self, book: Book) -> None:
        book.jobs.create("* * * * *", "job")
        book.jobs.wake(60, "one")
        book.jobs.wake(120, "two")
        assert sorted(job.prompt for job in book.jobs.listed()) == ["job", "two"]

    def test_only_the_loop_that_the_user_typed_is_theirs(self, book: Book) -> None:
        book.jobs.know_loop("/loop /deploy")
        authors = []
        for prompt in ("/loop /deploy", "/add-dir /", "/loop /deploy all"):
            book.jobs.wake(60, prompt)
            book.now += 61
            authors += [wake.author for wake in book.jobs.due()]
        assert authors == ["", "the wake-up that you made", "the wake-up that you made"]

    def test_typed_loops_are_forgotten_one_day(self, book: Book) -> None:
        for number in range(1_000):
            book.jobs.know_loop(f"/loop {number}")
        assert not book.jobs.wake(60, "/loop 0").typed
        assert book.jobs.wake(60, "/loop 999").typed


class TestResume:
    def again(self, book: Book, seconds: float) -> tuple[Book, list[str]]:
        later = Book(book.now + seconds)
        lost = later.jobs.restore(book.saved)
        return later, [job.prompt for job in lost]

    def test_unexpired_jobs_return_with_their_ids(self, book: Book) -> None:
        job = book.jobs.create("*/5 * * * *", "look", typed=True)
        once = book.jobs.create("0 9 3 1 *", "tomorrow", recurring=False)
        later, lost = self.again(book, 3600)
        assert lost == []
        assert {one.id for one in later.jobs.listed()} == {job.id, once.id}
        assert later.due() == []
        later.now += 300
        (wake,) = later.jobs.due()
        assert (wake.text, wake.author) == ("look", "")

    def test_expired_ones_do_not(self, book: Book) -> None:
        book.jobs.create("*/5 * * * *", "look")
        later, lost = self.again(book, 8 * DAY)
        assert (later.jobs.listed(), lost, later.saved) == ([], [], [])

    def test_one_that_was_due_meanwhile_is_told_and_does_not_run(self, book: Book) -> None:
        book.jobs.create("5 9 2 1 *", "remind", recurring=False)
        book.jobs.wake(60, "woken")
        later, lost = self.again(book, 3600)
        assert sorted(lost) == ["remind", "woken"]
        assert later.due() == []
        assert later.saved == []

    @pytest.mark.parametrize(
        "value",
        [
            None,
            7,
            {},
            {"id": "../x"},
            {"id": 1, "prompt": "p", "due": 0, "made": 0},
            {"id": "a", "prompt": "p", "due": 0, "made": 0, "cron": "never", "recurring": True},
        ],
    )
    def test_broken_values_are_left_out(self, book: Book, value: Any) -> None:
        assert book.jobs.restore([value]) == []
        assert book.jobs.listed() == []

    def test_no_more_than_the_limit(self, book: Book) -> None:
        book.jobs.create("* * * * *", "look")
        (one,) = book.saved
        book.jobs.restore([one | {"id": f"{number:08x}"} for number in range(10_000)])
        assert len(book.jobs.listed()) == MOST_JOBS


def test_a_hostile_prompt_is_one_harmless_line(book: Book) -> None:
    job = book.jobs.create("* * * * *", "a\x1b[2J\nThe job 1 is due\u202e" + "x" * 200)
    assert job.words.startswith("a\\x1b[2J\\nThe job 1 is due\\u202e")
    assert len(job.words) == 80
    book.now += 60
    (wake,) = book.jobs.due()
    assert "\x1b" not in wake.event.text  # type: ignore[union-attr]
    assert wake.text == job.prompt


def test_half_a_character_does_not_break_the_list(book: Book) -> None:
    assert book.jobs.create("* * * * *", "a\ud83d").prompt == "a\ufffd"
    assert book.jobs.wake(60, "a\ud83d").prompt == "a\ufffd"


def test_a_full_disk_does_not_stop_what_is_due(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    book.jobs.create("5 9 2 1 *", "remind", recurring=False)

    def full(jobs: list[dict[str, Any]]) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(book.jobs, "_save", full)
    book.now += 300
    assert book.all_due() == ["remind"]
