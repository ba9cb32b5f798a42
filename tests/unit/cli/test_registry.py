"""Every declaration matches its function, its help and its schema."""

from __future__ import annotations

import inspect

import pytest

from checkrein.cli import registry
from checkrein.cli.main import run
from checkrein.cli.schema import make_schema


@pytest.mark.parametrize("name", registry.names())
def test_declared_arguments_are_the_parameters(name: str) -> None:
    declared = registry.command(name)
    assert declared.name == name
    given = registry.given_by(name)
    if given is not None:
        assert sorted(given.__struct_fields__) == sorted(arg.name for arg in declared.args)
        return
    parameters = inspect.signature(registry.runner(name)).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return
    assert sorted(parameters) == sorted(arg.name for arg in declared.args)


@pytest.mark.parametrize("name", registry.names())
def test_help_names_every_flag(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*name.split(" "), "--help"]) == 0
    text = capsys.readouterr().out
    for arg in registry.command(name).args:
        for flag in arg.flags:
            assert flag in text


@pytest.mark.parametrize("name", registry.names())
def test_schema_is_made_of_the_payload(name: str) -> None:
    schema = make_schema(f"command/{name.replace(' ', '/')}")
    assert schema["title"] == f"checkrein {name}"
    assert {arg["name"] for arg in schema["x-arguments"]} == {arg.name for arg in registry.command(name).args}


@pytest.mark.parametrize("name", registry.names())
def test_every_argument_is_explained(name: str) -> None:
    declared = registry.command(name)
    assert declared.summary.endswith(".")
    for arg in declared.args:
        assert arg.help.endswith((".", "?")), arg.name


def test_greedy_flags_take_several_values() -> None:
    from checkrein.cli.parser import spread

    assert spread(["--t", "A", "B", "-x", "C", "--t", "D"], {"--t"}) == [
        "--t", "A", "--t", "B", "-x", "C", "--t", "D",
    ]  # fmt: skip
    assert spread(["--t", "A", "--", "B"], {"--t"}) == ["--t", "A", "--", "B"]
