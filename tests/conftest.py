"""No test sees the user's own files, credentials or sessions, or how the tests were started. Each may have a
project of its own."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from checkrein.runtime.process.spawner import Spawner
from support.files import lay

_VARIABLES = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_MODEL",
    "ANTHROPIC_DEFAULT_MODEL",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "CLAUDE_CONFIG_DIR",
    "CHECKREIN_CLOCK",
    "CHECKREIN_ID_SEED",
    "XDG_DATA_HOME",
)

# A shell starts background jobs with SIGINT ignored, and children inherit that; tests interrupt some of them.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine is no finding about a strategy.
settings.register_profile("here", suppress_health_check=[HealthCheck.too_slow], deadline=None)
settings.load_profile("here")

_homes = count()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """`untraced` tests run without the tracer of coverage, in every worker."""
    tracer = sys.gettrace()
    if tracer is None or item.get_closest_marker("untraced") is None:
        yield
        return
    sys.settrace(None)
    yield
    sys.settrace(tracer)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The closing lines count the tests with programs on node: nobody misses that they did not run."""
    found = {
        kind: [one for one in terminalreporter.stats.get(kind, ()) if "node" in one.keywords]
        for kind in ("passed", "failed", "skipped")
    }
    if any(found.values()):
        counts = ", ".join(f"{len(reports)} {kind}" for kind, reports in found.items())
        reasons = sorted({str(one.longrepr[2]) for one in found["skipped"]})
        terminalreporter.write_line(f"Programs on node: {counts}. {' '.join(reasons)}".rstrip())


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path_factory.getbasetemp() / "homes" / str(next(_homes))
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CHECKREIN_HOME", str(home / "checkrein"))
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def project(
    request: pytest.FixtureRequest, tmp_path: Path, _own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A repository. The mark `project(files, name=, home=, git=, inside=)` says what is in it and in the
    user's home, what its directory is called, whether it is a repository, and where
    below it the test runs. Parametrized indirectly it gets its files from the parameter."""
    mark = request.node.get_closest_marker("project")
    files: Mapping[str, object] = mark.args[0] if mark and mark.args else getattr(request, "param", {})
    said = mark.kwargs if mark else {}
    root = tmp_path / said.get("name", "project")
    root.mkdir(exist_ok=True)
    lay(root, {".git/": None, **files} if said.get("git", True) else files)
    lay(_own_home, said.get("home", {}))
    if "inside" in said:
        monkeypatch.chdir(root / said["inside"])
    return root


@pytest.fixture
def write(project: Path) -> Callable[[str, object], Path]:
    """Writes a file of the project: text as it is, anything else as JSON."""
    return lambda name, content: lay(project, {name: content}) / name


@pytest.fixture
def tree(tmp_path: Path) -> Callable[[Mapping[str, str]], Path]:
    """Writes files below a temporary directory; a name that ends in `/` is a directory."""
    return lambda files: lay(tmp_path, files)


@pytest.fixture
def spawner() -> Iterator[Spawner]:
    """Starts what anybody asks for."""
    with Spawner(lambda origin: True) as made:
        yield made
