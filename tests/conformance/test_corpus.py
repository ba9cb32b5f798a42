"""Real extension files: no crash; what YAML reads is taken as it is; the rest is repaired or explained.

`CHECKREIN_CORPUS` names a directory of real projects for the long run. The files below are written in the
forms that were found there.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import yaml

from checkrein.base import frontmatter
from checkrein.base.files import read_text
from checkrein.base.frontmatter import yaml_loader
from checkrein.dialects.claude import files
from checkrein.dialects.codes import CODES

_BLOCK = re.compile(r"---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)

# name -> (frontmatter, codes, some values that must be read)
FORMS: dict[str, tuple[str, list[str], dict[str, object]]] = {
    "plain": ("name: a\ndescription: Does it.\n", [], {"description": "Does it."}),
    "quoted": ('name: a\ndescription: "With: a colon"\n', [], {"description": "With: a colon"}),
    "folded": (
        "description: >-\n  One\n  two\nmodel: opus\n",
        [],
        {"description": "One two", "model": "opus"},
    ),
    "triggers": (
        "name: a\ndescription: Use it to plan. Triggers on: 'plan', 'map', 'risk'\ntools: Read, Grep\n",
        ["FM001"],
        {"description": "Use it to plan. Triggers on: 'plan', 'map', 'risk'", "tools": "Read, Grep"},
    ),
    "examples": (
        "name: a\n"
        "description: Use this agent when code changed. <example>\\nContext: Done.\\nuser: Go on</example>\n"
        "model: inherit\ncolor: yellow\n",
        ["FM001"],
        {"model": "inherit", "color": "yellow"},
    ),
    "at sign": ("description: @docs are read\nmodel: opus\n", ["FM001"], {"description": "@docs are read"}),
    "bracket": ("argument-hint: [topic] [more]\n", ["FM001"], {"argument-hint": "[topic] [more]"}),
    "loose lines": (
        "name: a\ndescription: First:\nsecond line: with colon\nand a third\nmodel: opus\n",
        ["FM002"],
        {"model": "opus"},
    ),
    "tabs": ("description: a\n\tb: c\nmodel: opus\n", ["FM002"], {"model": "opus"}),
    "list": ("- a\n- b\n", ["FM005"], {}),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_found_in_real_files(tmp_path: Path, form: str) -> None:
    block, codes, values = FORMS[form]
    path = tmp_path / "SKILL.md"
    path.write_text(f"---\n{block}---\nBody\n", encoding="utf-8")
    found = files.read(str(path))
    assert [entry.code for entry in found.diagnostics] == codes
    assert [skill.body for skill in found.skills] == ["Body\n"]
    read = frontmatter.parse(path.read_text(encoding="utf-8"), known()).values
    assert {key: read.get(key) for key in values} == values


def known() -> frozenset[str]:
    from checkrein.facts.claude_fields import SKILL_FIELDS, names

    return names(SKILL_FIELDS)


@pytest.mark.untraced
@pytest.mark.campaign
@pytest.mark.skipif("CHECKREIN_CORPUS" not in os.environ, reason="CHECKREIN_CORPUS names no corpus")
def test_every_file_of_the_corpus() -> None:
    count = 0
    for path in sorted(Path(os.environ["CHECKREIN_CORPUS"]).rglob("*")):
        if not path.is_file():
            continue
        count += 1
        found = files.read(str(path))
        assert {entry.code for entry in found.diagnostics} <= set(CODES)
        if path.suffix == ".md":
            compare(path)
    assert count > 0


def compare(path: Path) -> None:
    text = read_text(path).text
    block = _BLOCK.match(text)
    if block is None:
        return
    try:
        expected = yaml.load(block[1], yaml_loader())
    except yaml.YAMLError:
        expected = None
    read = frontmatter.parse(text)
    if isinstance(expected, dict):
        assert read.values == expected, path
        assert {problem.kind for problem in read.problems} <= {"duplicate"}, path
    elif block[1].strip():
        assert read.problems, path
