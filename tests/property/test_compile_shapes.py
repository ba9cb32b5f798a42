"""Any text in any notation: nothing is raised, and what is written of it are models that can be imported."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checkrein.compile.details import TextDetails
from checkrein.compile.models import collect_models, model_name
from checkrein.compile.package import compile_spec
from checkrein.compile.shapes.read import read_shapes
from checkrein.compile.values import Element

LANGUAGES = ("json", "yaml", "typescript", "python", "")
MANY = settings(max_examples=300, deadline=None, derandomize=True)
FEW = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
COUNT = itertools.count()
NAME = st.one_of(
    st.sampled_from(
        ["id", "class", "None", "model_x", "a-b", "copy", "Any", "Field", "x", "createdAt", "", "1a"]
    ),
    st.text(max_size=12).map(lambda text: text.replace("`", "").replace("\n", " ").replace("\r", " ")),
    st.text("abcXYZ_", min_size=1, max_size=70),
)
WORD = st.sampled_from(
    [
        *("interface", "type", "enum", "export", "class", "@dataclass", "BaseModel", "TypedDict", "extends"),
        *(
            "X",
            "Y",
            "a",
            "b",
            "string",
            "number",
            "str",
            "int",
            "list",
            "Optional",
            "Literal",
            "Array",
            "Record",
        ),
        *("{", "}", "[", "]", "(", ")", "<", ">", ":", ";", ",", "=", "|", "&", "?", "...", "//", "/*", "*/"),
        *(
            '"a"',
            "'b'",
            "`c`",
            "1",
            "2.5",
            "true",
            "null",
            "None",
            "<N>",
            "\n",
            "\n    ",
            "    ",
            "- ",
            "---",
        ),
        *("| Field | Type |\n|---|---|\n", "| `a` | string |\n", "&x", "*x", "# c", "\\", "\x00", "é", "漢"),
    ]
)
SOUP = st.lists(WORD, max_size=40).map(" ".join)
VALUE = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), NAME, st.just("a|b|c")),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAME, inner, max_size=4)),
    max_leaves=12,
)
TYPE = st.recursive(
    st.sampled_from(["string", "number", "boolean", "'a' | 'b'", "null", "Y", "Date", '"it\'s"', "Z", "any"]),
    lambda inner: st.one_of(
        inner.map(lambda one: f"({one})[]"),
        inner.map(lambda one: f"Record<string, {one}>"),
        st.tuples(inner, inner).map(" | ".join),
        inner.map(lambda one: f"{{ a: {one}; b?: {one} }}"),
    ),
    max_leaves=6,
)


def quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)


def interface(members: dict[str, str]) -> str:
    lines = "".join(f"  {quoted(key)}: {kind};\n" for key, kind in members.items())
    return f"interface Z {{ z: X }}\ninterface Y {{ y: string }}\ninterface X {{\n{lines}}}"


def document(value: dict[str, Any]) -> str:
    import json

    return json.dumps(value)


FITTING = st.one_of(
    st.tuples(st.just("typescript"), st.dictionaries(NAME, TYPE, min_size=1, max_size=6).map(interface)),
    st.tuples(st.just("json"), st.dictionaries(NAME, VALUE, min_size=1, max_size=6).map(document)),
)


def element(text: str, language: str) -> Element:
    return Element(
        element_id="elem_001",
        source_file="SKILL.md",
        source_lines="1",
        tag="SCHEMA",
        category="—",
        content_summary="x",
        content_full=text,
        heading="Output",
        details=TextDetails(language=language),
    )


@MANY
@given(st.one_of(st.text(max_size=300), SOUP), st.sampled_from(LANGUAGES))
def test_no_text_fails(text: str, language: str) -> None:
    read_shapes(text, language, "Output")


@MANY
@given(FITTING)
def test_what_fits_gives_models_with_sound_names(given: tuple[str, str]) -> None:
    language, text = given
    made = element(text, language)
    name = model_name(made)
    if name is None:
        return
    models = collect_models([(made, name)])
    names = [one.name for one in models] + [alias.name for one in models for alias in one.aliases]
    assert len(set(names)) == len(names)
    assert all(one.isidentifier() for one in names)
    for one in models:
        fields = [field.name for field in one.fields]
        assert fields
        assert len(set(fields)) == len(fields)
        assert all(field.isidentifier() for field in fields)
    assert collect_models([(made, name)]) == models


@FEW
@given(st.one_of(FITTING, st.tuples(st.sampled_from(LANGUAGES), SOUP)))
def test_packages_with_shapes_can_be_imported(tmp_path: Path, given: tuple[str, str]) -> None:
    pytest.importorskip("pydantic")
    language, text = given
    fence = f"~~~~{language}\n{text}\n~~~~" if language else text
    path = tmp_path / "x" / "SKILL.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"---\nname: d\ndescription: d\n---\n\n## Output\n\n{fence}\n", encoding="utf-8")
    compiled = compile_spec(path, env={"HOME": str(tmp_path / "home")})
    assert [one for one in compiled.lints if one.verdict == "fail"] == []
    source = compiled.files[f"{compiled.package}/schemas.py"].decode()
    module: Any = ModuleType(f"schemas_{next(COUNT)}")
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, "schemas.py", "exec"), vars(module))
        for shape in getattr(module, "SHAPES", ()):
            shape.model_json_schema()
    finally:
        del sys.modules[module.__name__]
