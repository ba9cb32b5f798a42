"""Pytest fixtures. Opt in with `pytest_plugins = ["checkrein.testing.plugin"]` in a conftest.py."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from checkrein.llm.port import Model
from checkrein.testing import RecordingModel, ReplayModel, Script, ScriptedModel, ScriptedServer, Turn

ScriptLike = Script | Iterable[Turn | dict[str, Any]] | str | Path
MakeModel = Callable[..., ScriptedModel]
MakeServer = Callable[..., ScriptedServer]
MakeCassette = Callable[..., Model]
"""What the fixtures give, for annotations."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--record-model",
        metavar="PROVIDER:NAME",
        help="Send requests to this model and record its replies in the cassettes; do not replay them.",
    )


@pytest.fixture
def scripted_model() -> Iterator[MakeModel]:
    """`scripted_model([{"text": "hi"}])` is a Model that plays these turns. The test fails when a request did
    not match the script, or left a part of it unused; with `strict=False` it does not."""
    models: list[ScriptedModel] = []

    def make(script: ScriptLike, *, strict: bool = True) -> ScriptedModel:
        model = ScriptedModel(script)
        if strict:
            models.append(model)
        return model

    yield make
    _require_followed([model.script for model in models], [])


@pytest.fixture
def scripted_server() -> Iterator[MakeServer]:
    """`scripted_server([{"text": "hi"}])` is an endpoint on loopback. It closes after the test, and the test
    fails as with `scripted_model`."""
    servers: list[ScriptedServer] = []
    loose: list[ScriptedServer] = []

    def start(script: ScriptLike, *, strict: bool = True) -> ScriptedServer:
        server = ScriptedServer(script)
        (servers if strict else loose).append(server)
        return server

    yield start
    for server in (*servers, *loose):
        server.close()
    failures = [failure for server in servers for failure in server.failures]
    _require_followed([server.script for server in servers], failures)


def _require_followed(scripts: list[Script], failures: list[str]) -> None:
    """Fail the test where its session left a script: in requests that did not match, or in turns that nobody
    asked for."""
    said = list(dict.fromkeys((*failures, *(failure for script in scripts for failure in script.failures))))
    for script in scripts:
        if script.unused and not said:
            numbers = ", ".join(map(str, script.unused))
            said.append(f"{script.name} has turns that no request took: {numbers} of {len(script.turns)}.")
    if said:
        pytest.fail("The session left its script.\n" + "\n".join(said), pytrace=False)


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
