from __future__ import annotations

import os
import site
import sys
from pathlib import Path

import pytest

from checkrein.base import extensions
from checkrein.base.extensions import Extension, Switches, directories, installed, load, load_all, switches
from checkrein.base.home import checkrein_home


def distribution(where: Path, name: str, *lines: str, version: str = "1.0") -> Path:
    folder = where / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nName: no\n")
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory on the path; the working directory is beside it."""
    for name in ("packages", "project"):
        (tmp_path / name).mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "packages"


def test_entry_points_are_found_and_not_loaded(place: Path) -> None:
    lines = ("[console_scripts]", "x = y:z", "", "[checkrein.checks]", "b = no_such_module:X", "A = m : Y")
    folder = distribution(place, "acme-rules", *lines, "[checkrein.nonsense]", "q = r", version="2.1.0")
    found = [one for one in installed() if one.distribution == "acme-rules"]
    assert [(one.group, one.name, one.version) for one in found] == [
        ("checks", "b", "2.1.0"),
        ("checks", "A", "2.1.0"),
    ]
    assert found[0].file == str(folder / "entry_points.txt")
    assert "no_such_module" not in sys.modules


@pytest.mark.parametrize("text", ["[checkrein.checks", "[checkrein.checks]\n\0\n", "[checkrein.checks]\n= x"])
def test_a_broken_file_adds_nothing(place: Path, text: str) -> None:
    distribution(place, "broken", text)
    extensions._scan.cache_clear()
    assert not [one for one in installed() if one.distribution == "broken"]


def test_the_first_of_two_installations_counts(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = place.parent / "more"
    distribution(place, "acme", "[checkrein.checks]", "a = m:first")
    distribution(other, "Acme", "[checkrein.checks]", "a = m:second", version="2")
    monkeypatch.setattr(sys, "path", [*sys.path, str(other)])
    assert [one.value for one in installed() if one.distribution.lower() == "acme"] == ["m:first"]


def test_a_project_adds_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = place.parent / "project"
    elsewhere = place.parent / "elsewhere"
    for where in (project, project / "src", elsewhere / "lib"):
        distribution(where, "evil", "[checkrein.checks]", "a = evil:X")
    monkeypatch.setattr(sys, "path", ["", str(project), "src", str(elsewhere / "lib"), *sys.path])
    assert [one.distribution for one in installed(str(elsewhere)) if one.distribution == "evil"] == []
    (place.parent / "link").symlink_to(project)
    monkeypatch.setattr(sys, "path", [str(place.parent / "link"), *sys.path])
    assert [one.distribution for one in installed(str(elsewhere)) if one.distribution == "evil"] == []


def test_packages_of_the_interpreter_count_wherever_they_lie(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = place.parent / "project" / ".venv" / "site-packages"
    own.mkdir(parents=True)
    monkeypatch.setattr(site, "getsitepackages", lambda: [str(own)])
    monkeypatch.setattr(sys, "path", [str(own), os.getcwd()])
    assert list(directories(os.getcwd())) == [str(own)]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("json:loads", None),
        ("os.path:join [extra]", None),
        ("json:no.such", "AttributeError"),
        ("no_such_module_at_all", "ModuleNotFoundError"),
        ("not a module", "module:attribute"),
        ("leaves:X", "SystemExit"),
    ],
)
def test_what_is_wrong_is_told_and_never_raised(place: Path, value: str, problem: str | None) -> None:
    (place / "leaves.py").write_text("raise SystemExit(3)\n")
    one = Extension(group="checks", name="a", value=value, distribution="d", version="1", file="f")
    found = load(one)
    assert (problem or "") in (found.problem or "")
    assert (found.value is None) == (problem is not None)


def test_the_user_switches_them_off(place: Path) -> None:
    distribution(place, "acme-rules", "[checkrein.checks]", "a = json:loads")
    assert [one.extension.distribution for one in load_all("checks")] == ["acme-rules"]
    config = checkrein_home() / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[extensions]\ndisabled = ["Acme_Rules"]\n')
    assert switches() == Switches(True, ("Acme_Rules",))
    assert load_all("checks") == ()
    config.write_text("[extensions]\nenabled = false\n")
    assert load_all("checks") == ()


@pytest.mark.usefixtures("place")
def test_a_project_has_no_say() -> None:
    Path("checkrein.toml").write_text("[extensions]\nenabled = false\n")
    assert switches() == Switches()


@pytest.mark.parametrize("marker", [".git/", ".claude/", ".claude-plugin/", "checkrein.toml"])
def test_a_project_adds_nothing_from_above_the_working_directory(
    place: Path, monkeypatch: pytest.MonkeyPatch, marker: str
) -> None:
    """No caller names the project: the scan finds its root."""
    project = place.parent / "project"
    (project / "src" / "deep").mkdir(parents=True)
    if marker.endswith("/"):
        (project / marker).mkdir()
    else:
        (project / marker).touch()
    monkeypatch.setattr(sys, "path", [str(project / "lib"), str(place)])
    for inside in ("src", "src/deep"):
        monkeypatch.chdir(project / inside)
        assert list(directories()) == [str(place)]
    monkeypatch.chdir(place.parent)
    assert list(directories(str(project / "src"))) == []
    (place.parent / "beside").mkdir()
    monkeypatch.chdir(place.parent / "beside")
    assert list(directories()) == [str(project / "lib"), str(place)]
    assert list(directories(str(project / "src" / "deep"))) == [str(place)]


def test_a_project_inside_another_closes_both(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = place.parent / "project"
    (project / ".git").mkdir()
    (project / "part" / ".claude").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(project / "lib"), str(place)])
    monkeypatch.chdir(project / "part")
    assert list(directories()) == [str(place)]


def test_the_settings_of_the_user_make_no_project_of_the_home(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = place.parent
    monkeypatch.setenv("HOME", str(home))
    (home / ".claude").mkdir()
    monkeypatch.setattr(sys, "path", [str(place)])
    assert list(directories()) == [str(place)]
