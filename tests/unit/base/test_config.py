from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.base.config import Config, Key, load_config

KEYS = (
    Key("check.select", list[str], [], "codes"),
    Key("model.base_url", str | None, None, "address", ("user", "env")),
    Key("model.name", str, "none", "name"),
    Key("session.turns", int | None, None, "turns"),
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def load(tmp_path: Path, home: Path, **env: str) -> Config:
    return load_config(KEYS, tmp_path, home, env)


def test_defaults(tmp_path: Path, home: Path) -> None:
    config = load(tmp_path, home)
    assert config.get("model.name") == "none"
    assert config.values["model.name"].layer == "default"


def test_layers_override_in_order_and_lists_replace(tmp_path: Path, home: Path) -> None:
    (home / "config.toml").write_text('[check]\nselect = ["A", "B"]\n[model]\nname = "user"\n')
    (tmp_path / "checkrein.toml").write_text('[check]\nselect = ["C"]\n[model]\n\nname = "project"\n')
    config = load(tmp_path, home, CHECKREIN_MODEL__NAME="env")
    assert config.get("check.select") == ["C"]
    origin = config.values["check.select"].origin
    assert origin is not None
    assert origin.file.endswith("checkrein.toml")
    assert origin.line == 2
    assert config.get("model.name") == "env"


def test_pyproject_is_read_when_there_is_no_own_file(tmp_path: Path, home: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.checkrein.model]\nname = "py"\n')
    assert load(tmp_path, home).get("model.name") == "py"


def test_a_project_never_sets_an_address(tmp_path: Path, home: Path) -> None:
    (tmp_path / "checkrein.toml").write_text('[model]\nbase_url = "http://evil"\n')
    config = load(tmp_path, home)
    assert config.get("model.base_url") is None
    assert [d.code for d in config.diagnostics] == ["CFG003"]


def test_unknown_keys_get_the_nearest_name(tmp_path: Path, home: Path) -> None:
    (tmp_path / "checkrein.toml").write_text('[model]\nnaem = "x"\n')
    (found,) = load(tmp_path, home).diagnostics
    assert found.code == "CFG002"
    assert "'model.name'" in found.message
    assert found.origin.line == 2


@pytest.mark.parametrize("text", ["[session]\nturns = 'many'\n", "[model]\nname = 3\n"])
def test_wrong_types_are_reported_and_not_used(tmp_path: Path, home: Path, text: str) -> None:
    (tmp_path / "checkrein.toml").write_text(text)
    config = load(tmp_path, home)
    assert [d.code for d in config.diagnostics] == ["CFG004"]
    assert config.get("session.turns") is None


def test_broken_toml_is_a_finding(tmp_path: Path, home: Path) -> None:
    (tmp_path / "checkrein.toml").write_text("a = \n")
    (found,) = load(tmp_path, home).diagnostics
    assert found.code == "CFG001"
    assert found.origin.line == 1


def test_environment_values_are_json_or_text(tmp_path: Path, home: Path) -> None:
    config = load(
        tmp_path,
        home,
        CHECKREIN_CHECK__SELECT='["X"]',
        CHECKREIN_MODEL__NAME="12",
        CHECKREIN_SESSION__TURNS="3",
    )
    assert config.get("check.select") == ["X"]
    assert config.get("model.name") == "12"
    assert config.get("session.turns") == 3


def test_a_secrets_file_others_can_read_is_not_used(tmp_path: Path, home: Path) -> None:
    (tmp_path / ".checkrein").mkdir()
    secrets = tmp_path / ".checkrein" / "secrets.toml"
    secrets.write_text('[model]\nname = "secret"\n')
    secrets.chmod(0o644)
    config = load(tmp_path, home)
    assert config.get("model.name") == "none"
    assert [d.code for d in config.diagnostics] == ["CFG005"]
    secrets.chmod(0o600)
    assert load(tmp_path, home).get("model.name") == "secret"
