"""Whatever a spec holds, the package is sound Python and its constants are the spec's own text."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checkrein.compile import literals
from checkrein.compile.body import split_body
from checkrein.compile.coverage import measure
from checkrein.compile.names import identifier, package_name, parameter
from checkrein.compile.package import compile_spec

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=200)
MARKDOWN = st.lists(
    st.sampled_from(
        [
            *(
                "# Title",
                "## Process",
                "1. Run it",
                '2. Write """',
                "- must not `x`",
                "```bash",
                "```",
                "text",
            ),
            *(
                "| a | b |",
                "|---|---|",
                "<!-- c -->",
                "> quote",
                "---",
                "    code",
                "**Step 1: x**",
                "\\",
                "",
                "\t- y",
            ),
        ]
    ),
    max_size=30,
).map("\n".join)
FEW = settings(max_examples=60, deadline=None, derandomize=True)
FEWER = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@FEW
@given(st.text(max_size=200))
def test_literals_mean_their_value(value: str) -> None:
    assert ast.literal_eval(literals.text(value)) == value
    assert ast.literal_eval(literals.one_line(value)) == value
    assert "\n" not in literals.one_line(value)
    assert "\n" not in literals.comment(value)


@FEW
@given(st.dictionaries(TEXT, st.lists(TEXT, max_size=3).map(tuple), max_size=3))
def test_collections_mean_their_value(value: dict[str, tuple[str, ...]]) -> None:
    assert ast.literal_eval(literals.value(value)) == value


@FEW
@given(TEXT)
def test_toml_strings(value: str) -> None:
    assert tomllib.loads(f"x = {literals.toml(value)}")["x"] == value


@FEW
@given(TEXT)
def test_docstrings_stay_inside_their_quotes(value: str) -> None:
    tree = ast.parse(f"def f() -> str:\n    {literals.docstring(value + 'x', '    ')}\n")
    [function] = tree.body
    assert isinstance(function, ast.FunctionDef)
    assert len(function.body) == 1


@FEW
@given(st.text(max_size=60))
def test_names_are_names(value: str) -> None:
    for name in (package_name(value), identifier(value, "x"), parameter(value, "x")):
        assert name.isidentifier()
        compile(f"{name} = 1", "x", "exec")


@FEW
@given(MARKDOWN)
def test_every_line_is_in_a_piece(body: str) -> None:
    pieces = split_body(body, 5)
    covered = {line for piece in pieces for line in range(piece.start, piece.end + 1)}
    for number, line in enumerate(body.split("\n"), 5):
        if line.strip() and not line.lstrip().startswith("#"):
            assert number in covered, (number, line)


@FEWER
@given(body=MARKDOWN, name=TEXT)
def test_any_spec_gives_a_sound_package(tmp_path: Path, body: str, name: str) -> None:
    path = tmp_path / "x" / "SKILL.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"---\ndescription: d\n---\n{body}\n{name}\n", encoding="utf-8")
    compiled = compile_spec(path, env={"HOME": str(tmp_path / "home")})
    assert [one for one in compiled.lints if one.verdict == "fail"] == []
    assert measure(compiled.inventory.spec, compiled.inventory.elements).passed
    assert compile_spec(path, env={"HOME": str(tmp_path / "home")}).files == compiled.files
