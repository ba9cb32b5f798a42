"""A Spawner whose commands are guarded, and a judge that remembers."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from checkrein.base.origin import Origin
from checkrein.llm.cancel import Cancel
from checkrein.policy.starts import Answer, Started, Watch, Watched
from checkrein.runtime.process.guard import client
from checkrein.runtime.process.guard.availability import guard_status
from checkrein.runtime.process.guard.guard import Guard, Refusal
from checkrein.runtime.process.spawner import Command, Completed, Spawner

ROOT = Path(__file__).parents[5]
SOURCES = Path(client.LIBRARY).parent
ORIGIN = Origin("/p/.claude/settings.json", "project")
ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    status = guard_status()
    if not status.holds:
        for item in items:
            if item.path.parent == Path(__file__).parent:
                item.add_marker(pytest.mark.skip(reason=status.why))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Attacks are tried on both forms of the guard, the rest on the compiled one."""
    if "form" in metafunc.fixturenames and metafunc.module.__name__.endswith("test_hostile"):
        metafunc.parametrize("form", ["compiled", "python"], indirect=True)


def compile_guard(library: Path, *options: str) -> str:
    """Why there is no library from the sources of now; empty when there is one."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    return str(build.compile_library(SOURCES, library, *options))


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of the compiled code; empty where there is no compiler."""
    pytest.importorskip("hatchling")
    made = tmp_path_factory.mktemp("library") / "libquick.so"
    made.parent.chmod(0o755)
    return "" if compile_guard(made) else str(made)


@pytest.fixture
def form(request: pytest.FixtureRequest) -> str:
    return getattr(request, "param", "compiled")


@pytest.fixture
def starter(form: str, library: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Spawner]:
    monkeypatch.setattr(client, "LIBRARY", library)
    with Spawner(lambda origin: True, compiled=form == "compiled") as made:
        yield made


class Ground:
    """Runs guarded commands in a directory of its own. Denies what `watch` is about unless `answer` says
    otherwise, and remembers each question."""

    def __init__(self, spawner: Spawner, folder: Path, is_compiled: bool) -> None:
        self.spawner, self.folder, self.is_compiled = spawner, folder, is_compiled
        self.asked: list[Started] = []
        self.heard: list[Refusal] = []
        self.answer: Callable[[Started], Answer] = lambda started: Answer(False, "no", "Bash(rm *)", ORIGIN)

    def judge(self, started: Started, cancel: Cancel) -> Answer:
        self.asked.append(started)
        return self.answer(started)

    def guard(
        self, *programs: str | Watched, every: bool = False, only: tuple[str, ...] | None = None
    ) -> Guard:
        watched = tuple(Watched(one) if isinstance(one, str) else one for one in programs or ("rm",))
        watch = Watch(every=every, programs=watched if not only else (), only=only)
        return Guard(watch=watch, judge=self, on_refused=self.heard.append)

    def command(self, argv: str | tuple[str, ...], guard: Guard | None = None, **more: object) -> Command:
        settings: dict[str, object] = {"cwd": str(self.folder), "env": ENV, "timeout": 60.0} | more
        return Command(
            argv=argv,
            origin=Origin("<bundled>", "bundled"),
            purpose="a test",
            guard=guard or self.guard(),
            **settings,  # type: ignore[arg-type]
        )

    def run(self, argv: str | tuple[str, ...], guard: Guard | None = None, **more: object) -> Completed:
        return self.spawner.run(self.command(argv, guard, **more), Cancel())

    def victim(self) -> Path:
        made = self.folder / "victim"
        made.write_text("still here")
        return made

    def compiled(self, source: str, *options: str, name: str = "made") -> str:
        if shutil.which("gcc") is None:
            pytest.skip("needs gcc")
        (self.folder / f"{name}.c").write_text(textwrap.dedent(source))
        built = self.folder / name
        argv = ["gcc", "-w", "-O1", "-o", str(built), str(built) + ".c", "-pthread", *options]
        done = subprocess.run(argv, capture_output=True, text=True, env=os.environ)
        if done.returncode:
            pytest.skip(f"gcc can't build it: {done.stderr[-200:]}")
        return str(built)


@pytest.fixture
def ground(starter: Spawner, tmp_path: Path, form: str) -> Ground:
    return Ground(starter, Path(os.path.realpath(tmp_path)), form == "compiled")
