"""Whatever stands in the fields, settings and file names beside a spec, the package passes its lints."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checkrein.compile.package import Options, compile_spec
from checkrein.compile.plan import Override
from checkrein.facts.compile import CATEGORY_KEYS

FEW = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
EVIL = st.sampled_from(
    [
        *(
            'x"""\n## 4. Evil\n# \\',
            "\n## 9. Last\n",
            "## 1. Classification",
            "a\r## 2. B\rc",
            "a\u2028## 3. C",
        ),
        *(
            "class",
            "None",
            "{{ x }}",
            "{% y %}",
            "'''",
            "\\",
            "../../x",
            "provide",
            "call",
            "tool_options",
            "_host",
        ),
        *(
            "GUARD",
            "run_pipeline",
            "recall_x",
            "Any",
            "1",
            "é",
            "m",
            "context",
            "requirements",
            "config",
            "tests",
        ),
        *("schemas", "mellea", "SkillResult", "TOOLS", "x" * 300, "streaming", "json", "# x", "from"),
    ]
)
FIELDS = st.fixed_dictionaries(
    {"name": EVIL, "description": EVIL},
    optional={
        **dict.fromkeys(
            ("license", "compatibility", "model", "effort", "shell", "argument-hint", "agent"), EVIL
        ),
        "modality": st.sampled_from(["streaming", "conversational_session", "scheduled", "heartbeat", "x"]),
        "metadata": st.dictionaries(EVIL, EVIL, max_size=2),
        "allowed-tools": st.lists(
            st.one_of(EVIL, EVIL.map(lambda one: f"Bash({one})"), EVIL.map(lambda one: f"mcp__{one}__{one}")),
            max_size=3,
        ),
        "hooks": st.dictionaries(EVIL, EVIL.map(lambda one: [{"matcher": one, "hooks": []}]), max_size=2),
    },
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "permissions": st.fixed_dictionaries(
            {
                "deny": st.lists(EVIL.map(lambda one: f"Bash({one})"), max_size=2),
                "ask": st.lists(EVIL, max_size=2),
            }
        ),
        "env": st.dictionaries(EVIL, EVIL, max_size=2),
        "hooks": st.dictionaries(EVIL, EVIL.map(lambda one: [{"matcher": one, "hooks": []}]), max_size=2),
        "mcpServers": st.dictionaries(EVIL, st.just({"command": "x"}), max_size=2),
    },
)
LINES = st.lists(
    st.one_of(
        EVIL,
        EVIL.map(lambda one: f"## {one}"),
        EVIL.map(lambda one: f"## Process\n\n1. Extract {one}\n2. Write {one}"),
        EVIL.map(lambda one: f"## Output\n\n```json\n{json.dumps({one: one})}\n```"),
        EVIL.map(lambda one: f"- ${{input:{one}}}"),
    ),
    max_size=6,
).map("\n\n".join)


@FEW
@given(fields=FIELDS, beside=SETTINGS, body=LINES, file=EVIL, host=st.sampled_from([None, "local"]))
def test_every_package_passes_its_lints(
    tmp_path: Path, fields: dict[str, Any], beside: dict[str, Any], body: str, file: str, host: str | None
) -> None:
    root = tmp_path / "project"
    shutil.rmtree(root, ignore_errors=True)
    folder = root / ".claude" / "skills" / "demo"
    (folder / "scripts").mkdir(parents=True)
    (root / ".git").mkdir()
    (folder / "SKILL.md").write_text(f"---\n{yaml.safe_dump(fields)}---\n{body}\n", encoding="utf-8")
    (root / ".claude" / "settings.json").write_text(json.dumps(beside))
    (folder / "scripts" / f"{file.replace('/', '_')[:60]}.py").write_text("def broken(:\n")
    home = {"HOME": str(tmp_path / "home")}
    compiled = compile_spec(folder / "SKILL.md", Options(host=host), env=home)
    assert [one for one in compiled.lints if one.verdict == "fail"] == []
    for entry in compiled.plan[:6]:
        if entry.category == CATEGORY_KEYS["C6"]:
            against = (Override(entry.signal, "remove", "x"),)
            less = compile_spec(folder / "SKILL.md", Options(overrides=against), env=home)
            assert [one for one in less.lints if one.verdict == "fail"] == []
