"""Data shapes of a spec become models, in each notation; what does not fit stays text."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from checkrein.compile.details import TextDetails
from checkrein.compile.models import Model, collect_models, model_name
from checkrein.compile.package import Compiled, compile_spec
from checkrein.compile.shapes.read import read_shapes
from checkrein.compile.values import Element


def element(text: str, language: str, heading: str = "Output") -> Element:
    return Element(
        element_id="elem_001",
        source_file="SKILL.md",
        source_lines="1",
        tag="SCHEMA",
        category="—",
        content_summary="x",
        content_full=textwrap.dedent(text).strip("\n"),
        heading=heading,
        details=TextDetails(language=language) if language else None,
    )


def models(text: str, language: str, heading: str = "Output") -> dict[str, dict[str, str]]:
    """Each model with its fields as they are written."""
    made = element(text, language, heading)
    name = model_name(made)
    return {} if name is None else {one.name: fields(one) for one in collect_models([(made, name)])}


def fields(model: Model) -> dict[str, str]:
    return {
        one.name: one.annotation
        + ("" if one.required else " = None")
        + (f" <- {one.alias}" if one.alias else "")
        for one in model.fields
    }


def build(base: Path, body: str) -> Compiled:
    path = base / "SKILL.md"
    path.write_text(f"---\nname: {base.name}\ndescription: d\n---\n{body}", encoding="utf-8")
    return compile_spec(path, env={"HOME": str(base / "home")})


def test_typescript() -> None:
    text = """
    /** How bad it is. */
    export type Severity = "low" | "high" | "a-b";
    enum Kind { Bug = "bug", Smell = 'smell', }
    interface Place { readonly file: string; line?: number }
    export interface Finding extends Place {
      severity: Severity   // no semicolon
      kind: Kind,
      fileName: string
      "quoted-key"?: string | null;
      tags: string[];
      pairs: Array<[string, number]>;
      scores: Record<string, number>;
      nested: { a: boolean; b?: { c: Date }[] };
      other: SomethingElse;
      n: 1 | 2;
    }
    declare interface ReviewReport {
      findings: ReadonlyArray<Finding>;
      parent?: ReviewReport;
      part: Partial<Place>;
    }
    """
    assert models(text, "typescript") == {
        "FindingNestedB": {"c": "str"},
        "FindingNested": {"a": "bool", "b": "list[FindingNestedB] | None = None"},
        "Finding": {
            "file": "str",
            "line": "float | None = None",
            "severity": 'Literal["low", "high", "a-b"]',
            "kind": 'Literal["bug", "smell"]',
            "file_name": "str <- fileName",
            "quoted_key": "str | None = None <- quoted-key",
            "tags": "list[str]",
            "pairs": "list[list[str | float]]",
            "scores": "dict[str, float]",
            "nested": "FindingNested",
            "other": "Any",
            "n": "int",
        },
        "ReviewReportPart": {"file": "str | None = None", "line": "float | None = None"},
        "ReviewReport": {
            "findings": "list[Finding]",
            "parent": "Any | None = None",
            "part": "ReviewReportPart",
        },
    }


@pytest.mark.parametrize(
    "text",
    [
        "const x = 1;",
        "interface X { f(): string }",
        "interface X { a: (x: string) => void }",
        "type X = keyof Y",
        "type X = 'a' | 'b'",
        "import { Y } from 'y';\ninterface X { a: Y }",
        "interface X { a: string",
        "interface X {}",
        "enum X { A, B = 'b' }",
        "export class X { a: string }",
        "interface X { a: A['b'] }",
        "@get op listItems(@query userId?: integer): Item[];",
        "model X { a: string }",
        "interface X " + "{ a: " * 200 + "string" + " }" * 200,
        "type X = " + "(" * 5000,
    ],
)
def test_other_typescript_stays_text(text: str) -> None:
    assert models(text, "ts") == {}


def test_python() -> None:
    text = '''
    """Shapes."""
    from __future__ import annotations
    from dataclasses import dataclass, field
    from enum import Enum
    from typing import Literal, Optional

    Level = Literal["low", "high"]

    class Kind(str, Enum):
        """Kinds."""
        BUG = "bug"
        SMELL = "smell"

    @dataclass(frozen=True)
    class Place:
        file: str
        line: Optional[int] = None

    class Extra(TypedDict, total=False):
        when: datetime.date
        must: Required[bool]

    class Finding(BaseModel):
        """One."""
        model_config = ConfigDict(extra="forbid")
        level: Level
        kind: Kind
        place: "Place"
        tags: list[str] = field(default_factory=list)
        scores: Dict[str, float] = Field(..., alias="scoreMap")
        many: tuple[int, ...] | None
        limits: ClassVar[int] = 3
        _hidden: int = 1
        extra: Annotated[Extra, "x"]
        what: Callable[[], None]

        def total(self) -> int:
            raise SystemExit(1)

    class AnalysisResult(BaseModel):
        findings: List[Finding]
        again: "AnalysisResult"
    '''
    assert models(text, "python") == {
        "Place": {"file": "str", "line": "int | None = None"},
        "Extra": {"when": "str | None = None", "must": "bool"},
        "Finding": {
            "level": 'Literal["low", "high"]',
            "kind": 'Literal["bug", "smell"]',
            "place": "Place",
            "tags": "list[str] | None = None",
            "score_map": "dict[str, float] <- scoreMap",
            "many": "list[int] | None",
            "extra": "Extra",
            "what": "Any",
        },
        "AnalysisResult": {"findings": "list[Finding]", "again": "Any"},
    }


@pytest.mark.parametrize(
    "text",
    [
        "x = compute()\nprint(x)",
        "def f(): ...",
        "class X:\n    a: int = 1",
        "class X(Thread):\n    a: int",
        "class X(BaseModel):\n    pass",
        "class X(Enum):\n    A = object()",
        "class X(BaseModel)\n    a: int",
        "import os\nos.remove('x')",
        "(" * 500,
        "x" + "\x00",
        "class X(BaseModel):\n    a: int\n\nclient.run(X)",
    ],
)
def test_other_python_stays_text(text: str) -> None:
    assert models(text, "py") == {}


def test_json_samples() -> None:
    text = """
    {
      // a comment
      "status": "ok|failed|skipped", /* another */
      "score": "number", "names": "string[]", "maybe": "string|null",
      "command": "ls | wc", "type": "string",
      "total": <N>,
      "n": 1, "x": 1.5, "flag": false, "gone": null, "text": "YYYY-MM-DD", "free": {},
      "items": [
        {"id": 1, "note": "x"},
        {"id": 2.5},
        ...
      ],
      "mixed": [1, "a"],
      ...
    }
    """
    assert models(text, "json", "Report format") == {
        "ReportFormatShapeItems": {"id_": "float <- id", "note": "str | None = None"},
        "ReportFormatShape": {
            "status": 'Literal["ok", "failed", "skipped"]',
            "score": "float",
            "names": "list[str]",
            "maybe": "str | None",
            "command": "str",
            "type_": "str <- type",
            "total": "Any",
            "n": "int",
            "x": "float",
            "flag": "bool",
            "gone": "Any",
            "text": "str",
            "free": "dict[str, Any]",
            "items": "list[ReportFormatShapeItems]",
            "mixed": "list[int | str]",
        },
    }


def test_json_schema() -> None:
    value = {
        "$schema": "x",
        "title": "Review result",
        "type": "object",
        "required": ["id", "level", "finding", "both"],
        "properties": {
            "id": {"type": "integer"},
            "level": {"enum": ["low", "high"]},
            "when": {"type": "string", "format": "date-time"},
            "finding": {"$ref": "#/$defs/Finding"},
            "all": {"type": "array", "items": {"$ref": "#/$defs/Finding"}},
            "both": {"type": ["string", "null"]},
            "any": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "map": {"type": "object", "additionalProperties": {"type": "number"}},
            "gone": {"$ref": "#/$defs/None"},
            "fixed": {"const": "v1"},
        },
        "$defs": {
            "Finding": {
                "type": "object",
                "properties": {"inner": {"$ref": "#/$defs/Finding"}, "ok": {"type": "boolean"}},
            }
        },
    }
    expected = {
        "Finding": {"inner": "Any | None = None", "ok": "bool | None = None"},
        "ReviewResult": {
            "id_": "int <- id",
            "level": 'Literal["low", "high"]',
            "when": "str | None = None",
            "finding": "Finding",
            "all_": "list[Finding] | None = None <- all",
            "both": "str | None",
            "any_": "int | None = None <- any",
            "map_": "dict[str, float] | None = None <- map",
            "gone": "Any | None = None",
            "fixed": 'Literal["v1"] | None = None',
        },
    }
    assert models(json.dumps(value), "json") == expected
    import yaml

    assert models(yaml.safe_dump(value, sort_keys=False), "yaml") == expected


def test_a_sample_with_properties_is_a_sample() -> None:
    assert models('{"properties": {"a": 1}, "name": "x"}', "json") == {
        "OutputProperties": {"a": "int"},
        "Output": {"properties": "OutputProperties", "name": "str"},
    }


def test_yaml_samples_count_under_a_heading_on_output() -> None:
    text = """
    # what comes back
    status: ok | failed
    when: 2024-01-02
    findings:
      - file: a.py   # the file
        line: 3
      - file: b.py
    """
    expected = {
        "ResultFindings": {"file": "str", "line": "int | None = None"},
        "Result": {"status": 'Literal["ok", "failed"]', "when": "str", "findings": "list[ResultFindings]"},
    }
    assert models(text, "yaml", "Result") == expected
    assert models(text, "yaml", "Template 1: Routing") == {}
    assert models("apiVersion: v1\nkind: Pod\n", "yaml") == {}
    assert models("a: 1\n---\nb: 2\n", "yaml") == {}
    assert models("a: &x [1]\nb: *x\n<: {", "yaml") == {}
    assert models("- a\n- b\n", "yaml") == {}
    bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    assert models(bomb, "yaml") == {}


def test_tables_of_fields() -> None:
    text = r"""
    | Field | Type | Required | Description |
    |-------|------|:--------:|-------------|
    | `id` | string | yes | The id |
    | `level` | `"low"` \| `"high"` | Yes | How bad |
    | score | number | No | Between 0 and 1 |
    | tags | list of strings | ✅ | Tags |
    | items | array | yes | Findings |
    | items[].file | string | yes | |
    | items[].line | integer | no | |
    | meta.owner | Owner | no | Who |
    | kind | enum: a, b | yes | |
    | at | ISO date | yes | |
    """
    assert models(text, "") == {
        "OutputItems": {"file": "str", "line": "int | None = None"},
        "OutputMeta": {"owner": "Any | None = None"},
        "Output": {
            "id_": "str <- id",
            "level": 'Literal["low", "high"]',
            "score": "float | None = None",
            "tags": "list[str]",
            "items": "list[OutputItems]",
            "meta": "OutputMeta",
            "kind": 'Literal["a", "b"]',
            "at": "str",
        },
    }
    short = "| Property | Type |\n|---|---|\n| a | string? |\n| b? | int (optional) |\n| c | string[] |\n"
    assert models(short, "") == {
        "Output": {"a": "str | None = None", "b": "int | None = None", "c": "list[str]"}
    }


@pytest.mark.parametrize(
    "text",
    [
        "| Field | Meaning |\n|---|---|\n| a | b |",
        "| Field | Type |\n|---|---|",
        "| Field | Type |\n|---|---|\n| two words | string |",
        "| Field | Type |\n|---|---|\n| a | string |\n| a | int |",
        "| Field | Type |\n|---|---|\n| a | Thing |\n| b | Other |",
        "| Field | Type |\n|---|---|\n| a |",
        "| Issue | Type |\n|---|---|\n| a | string |",
        "| Field | Type |\n| a | string |\n| b | string |",
    ],
)
def test_other_tables_stay_text(text: str) -> None:
    assert models(text, "") == {}


@pytest.mark.parametrize("language", ["json", "yaml", "typescript", "python", "", "rust"])
def test_no_text_makes_it_fail(language: str) -> None:
    for text in ("", " ", "{", "[" * 10_000, "{" * 10_000, "\x00", "a: " * 9000, "|" * 9000, "x" * 100_000):
        assert read_shapes(text, language, "Output") is None


def test_names_are_apart() -> None:
    first = element('{"items": [{"a": 1}]}', "json")
    second = element('{"items": [{"b": "x"}]}', "json")
    made = collect_models([(first, "Output"), (second, "Output_2")])
    assert [(one.name, fields(one)) for one in made] == [
        ("OutputItems", {"a": "int"}),
        ("Output", {"items": "list[OutputItems]"}),
        ("Output_2Items", {"b": "str"}),
        ("Output_2", {"items": "list[Output_2Items]"}),
    ]


BODY = """
# Review

## Output format

```typescript
type Level = "a level that is rather long" | "another one that is long"
  | "and a third one" | "漢字漢字漢字漢字漢字漢字漢字漢字";
interface None { class: string; "model_x": Level[]; self: Any }
interface Field { value: Literal }
interface Literal { "": string; copy: "Any" | "it's \\"quoted\\"" }
interface ThisIsAnInterfaceWithAVeryLongNameIndeedOhYes {
  aFieldWithAVeryLongNameThatGoesOnAndOnAndOn?: Array<ThisIsAnInterfaceWithAVeryLongNameIndeedOhYes2>
}
interface ThisIsAnInterfaceWithAVeryLongNameIndeedOhYes2 { x: Record<string, Record<string, Field>> }
```

### Fields

| Field | Type | Required |
|---|---|---|
| verdict | string | yes |
| findings[].line | int | no |

### Errors

```python
class Problem(BaseModel):
    text: str
```

```python
print("only code")
```

```yaml
result: ok
```
"""


def test_whole_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pydantic")
    from checkrein.compile.write import write

    compiled = build(tmp_path, BODY)
    rows = {one.source_lines: (one.tag, one.category) for one in compiled.inventory.elements}
    assert list(rows.values()).count(("SCHEMA", "—")) == 3
    text = compiled.files[f"{compiled.package}/schemas.py"].decode()
    module: Any = ModuleType("schemas_of_test")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(text, "schemas.py", "exec"), vars(module))
    for one in module.SHAPES:
        assert one.model_json_schema()["type"] == "object"
    assert "print(" in compiled.files[f"{compiled.package}/config.py"].decode()
    assert [one for one in compiled.lints if one.verdict == "fail"] == []
    ruff = shutil.which("ruff", path=f"{Path(sys.executable).parent}")
    if ruff is not None:
        write(tmp_path / "out", compiled.package, compiled.files)
        for command in (["format", "--diff"], ["check", "--select", "E9,F,I"]):
            done = subprocess.run(
                [ruff, *command, str(tmp_path / "out")], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr


def test_code_in_a_step_is_no_element_of_its_own(tmp_path: Path) -> None:
    body = "\n## Steps\n\n### Step 1: Write the output\n\n```python\nprint(1)\n```\n\n### Step 2: Stop\n"
    compiled = build(tmp_path, body)
    assert [one.tag for one in compiled.inventory.elements if one.step is None and one.row is None] == []


@pytest.mark.parametrize("text", ['{"a": %s}', '{"a": %s, }'])
def test_a_number_without_end_is_no_shape(text: str) -> None:
    assert read_shapes(text % ("9" * 5000), "json", "Output") is None
