"""The fixtures as a user's own tests see them."""

import pytest

pytest_plugins = ["pytester"]

CONFTEST = 'pytest_plugins = ["checkrein.testing.plugin"]'
IMPORTS = """
from checkrein.llm.anthropic import AnthropicModel
from checkrein.llm.port import Cancel, Request, collect, user

def ask(model, text="hello"):
    return collect(model.stream(Request(model="m", messages=(user(text),)), Cancel())).text
"""


@pytest.fixture(autouse=True)
def _conftest(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST)


def test_scripted_model_and_server(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        IMPORTS
        + """
def test_model(scripted_model):
    assert ask(scripted_model([{"text": "hi"}])) == "hi"

def test_server(scripted_server):
    server = scripted_server([{"text": "hi", "expect": {"text": "hello"}}])
    assert ask(AnthropicModel(base_url=server.url, env={})) == "hi"
    assert server.requests[0].request.messages[0] == user("hello")
"""
    )
    pytester.runpytest("-p", "no:cacheprovider").assert_outcomes(passed=2)


def test_leaving_the_script_fails_the_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        IMPORTS
        + """
def test_server(scripted_server):
    server = scripted_server([{"text": "hi", "expect": {"text": "bye"}}])
    try:
        ask(AnthropicModel(base_url=server.url, env={}))
    except Exception:
        pass
"""
    )
    result = pytester.runpytest("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*session left its script*", "*should hold 'bye'*", "-bye", "+hello"])


def test_a_model_that_drifts_fails_the_test_with_a_diff(pytester: pytest.Pytester) -> None:
    """Through `checkrein.run_sync`, which reports the failure in its result and raises nothing."""
    pytester.makepyfile(
        """
import checkrein

def go(model, tmp_path):
    return checkrein.run_sync("go", project=tmp_path, model=model)

def test_expectation(scripted_model, tmp_path):
    result = go(scripted_model([{"text": "hi", "expect": {"text": "stop"}}]), tmp_path)
    assert (result.is_error, result.text) == (True, "")
    assert "should hold 'stop'" in result.problem

def test_one_request_too_many(scripted_model, tmp_path):
    calls = [{"name": "Read", "input": {"file_path": "none"}}]
    go(scripted_model([{"text": "looking", "tool_calls": calls}]), tmp_path)

def test_a_turn_too_many(scripted_model, tmp_path):
    go(scripted_model([{"text": "hi"}, {"text": "never"}]), tmp_path)

def test_drift_that_is_wanted(scripted_model, tmp_path):
    assert go(scripted_model([], strict=False), tmp_path).is_error
"""
    )
    result = pytester.runpytest("-p", "no:cacheprovider")
    result.assert_outcomes(passed=4, errors=3)
    result.stdout.fnmatch_lines(["*should hold 'stop'*", "-stop", "+go"])
    result.stdout.fnmatch_lines(["*has no turn left for request 2, which says *"])
    result.stdout.fnmatch_lines(["*has turns that no request took: 2 of 2."])


def test_cassettes_are_recorded_then_replayed(pytester: pytest.Pytester) -> None:
    pytester.makefile(".jsonl", turns='{"text": "recorded"}')
    pytester.makepyfile(
        IMPORTS
        + """
def test_it(cassette, tmp_path):
    assert ask(cassette("one"), f"work in {tmp_path}") == "recorded"

def test_unasked(cassette):
    cassette("one")
"""
    )
    first = pytester.runpytest(
        "-p", "no:cacheprovider", "--record-model", "scripted:turns.jsonl", "-k", "test_it"
    )
    first.assert_outcomes(passed=1, deselected=1)
    (pytester.path / "turns.jsonl").unlink()
    assert "‹tmp›" in (pytester.path / "cassettes" / "one.jsonl").read_text()
    again = pytester.runpytest("-p", "no:cacheprovider")
    again.assert_outcomes(passed=2, errors=1)
    again.stdout.fnmatch_lines(["*more exchanges than the test used*"])
