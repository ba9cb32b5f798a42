"""Pytest fixtures. Opt in with `pytest_plugins = ["checkrein.testing.plugin"]` in a conftest.py."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from checkrein.llm.port import Model
from checkrein.testing import RecordingModel, ReplayModel, Script, ScriptedModel, ScriptedServer, Turn

ScriptLike = Script | Iterable[Turn | dict[str, Any]] | str | Path
MakeModel = Callable[[ScriptLike], ScriptedModel]
MakeServer = Callable[[ScriptLike], ScriptedServer]
MakeCassette = Callable[..., Model]
"""What the fixtures give, for annotations."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--record-model",
        metavar="PROVIDER:NAME",
        help="Send requests to this model and record its replies in the cassettes; do not replay them.",
    )


@pytest.fixture
def scripted_model() -> MakeModel:
    """`scripted_model([{"text": "hi"}])` is a Model that plays these turns."""
    return ScriptedModel


@pytest.fixture
def scripted_server() -> Iterator[MakeServer]:
    """`scripted_server([{"text": "hi"}])` is an endpoint on loopback. It closes after the test, and the test
    fails when a request did not match the script."""
    servers: list[ScriptedServer] = []

    def start(script: ScriptLike) -> ScriptedServer:
        servers.append(ScriptedServer(script))
        return servers[-1]

    yield start
    for server in servers:
        server.close()
    failures = [failure for server in servers for failure in server.failures]
    if failures:
        pytest.fail("the session left its script: " + "; ".join(failures), pytrace=False)


@pytest.fixture
def cassette(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeCassette]:
    """`cassette("name")` is a Model that replays `cassettes/name.jsonl` beside the test file; with
    `--record-model` it sends requests to that model and writes the file. The file shows the test's `tmp_path`
    as `‹tmp›`. The test fails when exchanges remain unused."""
    spec: str | None = request.config.getoption("--record-model")
    folder = Path(request.path).parent / "cassettes"
    opened: list[RecordingModel | ReplayModel] = []

    def open_cassette(name: str, rewrites: Iterable[tuple[str, str]] = ()) -> Model:
        file = folder / f"{name}.jsonl"
        words = ((str(tmp_path), "‹tmp›"), *rewrites)
        if spec is None:
            opened.append(ReplayModel(file, words))
        else:
            from checkrein.llm.choose import choose

            folder.mkdir(exist_ok=True)
            opened.append(RecordingModel(choose(spec).model, file, words))
        return opened[-1]

    yield open_cassette
    for model in opened:
        if isinstance(model, RecordingModel):
            model.close()
        elif not model.finished:
            pytest.fail("the cassette holds more exchanges than the test used", pytrace=False)
