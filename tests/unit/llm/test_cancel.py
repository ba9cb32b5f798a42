from __future__ import annotations

import time

from checkrein.llm.cancel import Cancel


def test_a_deadline_fires_by_itself() -> None:
    cancel = Cancel(time.monotonic() + 0.05)
    assert cancel.within(10) <= 0.05
    assert cancel.wait(5)
    assert cancel.why == "deadline"
    cancel.cancel()
    assert cancel.why == "deadline"


def test_a_released_deadline_does_not_fire() -> None:
    cancel = Cancel(time.monotonic() + 1)
    cancel.release()
    assert not cancel.wait(1.2)


def test_a_deadline_beyond_all_bounds() -> None:
    cancel = Cancel(float("inf"))
    assert not cancel.wait(0.01)
    cancel.release()


def test_what_outlasts_a_cancel_counts_from_it() -> None:
    cancel = Cancel()
    cancel.cancel("deadline")
    time.sleep(0.1)
    with cancel.outlasted(0.05) as later:
        assert later.why == "deadline"
    with cancel.outlasted(10) as later:
        assert not later.cancelled
        cancel.force()
        assert later.forced


def test_force_reaches_who_comes_later() -> None:
    cancel = Cancel()
    cancel.force()
    heard: list[str] = []
    with cancel.on_cancel(lambda: heard.append("cancel"), lambda: heard.append("force")):
        assert heard == ["cancel", "force"]


def test_a_branch_fires_with_its_cancel_and_alone() -> None:
    cancel = Cancel()
    with cancel.branch(0.02) as part:
        assert part.wait(5)
        assert not cancel.cancelled
    with cancel.branch() as part:
        cancel.cancel()
        assert part.cancelled


def test_a_callback_that_fails_does_not_stop_the_others() -> None:
    cancel, heard = Cancel(), []

    def broken() -> None:
        raise OSError

    with cancel.on_cancel(broken), cancel.on_cancel(lambda: heard.append(1)):
        cancel.cancel()
    assert heard == [1]
