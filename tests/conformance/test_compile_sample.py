"""A sample of packages on the real library: formatted, typed, tested, run end to end against a mock model.

The skills of `data/compile/own` and the specs below, through `bench/compile_corpus.py`, which does the same
for a whole corpus.
"""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.skipif(find_spec("mellea") is None, reason="mellea is not installed")

ROOT = Path(__file__).parents[2]
OWN = Path(__file__).parent / "data" / "compile" / "own"
# Name to frontmatter and body: what the skills of `own` do not have.
SPECS = {
    "streams-and-checks": (
        "description: Sums up a text.",
        "Use --output-format stream-json.\n\n1. Write the summary\n2. Verify every claim in it\n\n"
        "## Output\n\nThe answer must start with `Summary:`.\n",
    ),
    "talks": (
        "description: A conversational assistant.",
        "Go on with `claude --resume`.\n\n1. Greet the user\n2. Verify what they said\n",
    ),
    "fetches": (
        "description: Reads the documentation.\nallowed-tools: WebFetch(domain:example.com) Bash(git log *)",
        "1. Read the page\n2. Decide which part matters\n",
    ),
    "repairs": (
        "description: Repairs a text.",
        "1. Extract the claims\n2. Fix the text and repeat until the check passes\n\n"
        "## Output\n\nKeep the answer under 50 words.\n",
    ),
    "dispatches": (
        "description: Lets people in.\nargument-hint: '<who> [--group <name>]'",
        "## `pair <code>`\n\n1. Read the list\n2. Decide who is meant\n\n"
        '## Say "no", don\'t {{ x }} {% y %} \\\\ <z> #1\n\n1. Extract the names\n2. Verify each of them\n',
    ),
    "streams-and-dispatches": (
        "description: Lets people in.\nallowed-tools: Bash(git log *)",
        "Use --output-format stream-json.\n\n## Pair\n\n1. Read the list\n2. Write the list\n\n"
        "## Deny\n\n1. Read the list\n2. Verify it\n",
    ),
    "refuses": (
        "description: Looks at code.\nallowed-tools: Bash Read",
        "1. Read the code\n2. Write the report\n\n## Output\n\n- Keep the answer under 50 words.\n"
        '- Never write "TODO".\n',
    ),
}
EVERY = 12
"""Of the skills of `own`, one in so many."""
SETTINGS = {"permissions": {"deny": ["Bash(rm *)", "Read(./.env)"], "ask": ["Bash(git push *)"]}}


@pytest.fixture(scope="module")
def corpus() -> ModuleType:
    spec = spec_from_file_location("compile_corpus", ROOT / "bench" / "compile_corpus.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made(base: Path) -> list[str]:
    found = []
    for name, (head, body) in SPECS.items():
        path = base / name / ".claude" / "skills" / name / "SKILL.md"
        path.parent.mkdir(parents=True)
        path.write_text(f"---\nname: {name}\n{head}\n---\n\n{body}")
        if name == "refuses":
            (path.parents[2] / "settings.json").write_text(json.dumps(SETTINGS))
        found.append(str(path))
    return found


@pytest.fixture
def specs(tmp_path: Path) -> list[str]:
    return [*made(tmp_path / "specs"), *sorted(str(path) for path in OWN.glob("*/SKILL.md"))[::EVERY]]


def packages(corpus: ModuleType, specs: list[str], out: Path) -> dict[str, str]:
    """Output folder to package name."""
    found: dict[str, str] = corpus.compile_all(specs, out)
    assert len(found) == len(specs)
    return found


@pytest.mark.untraced
@pytest.mark.parametrize("part", range(2))
def test_their_tests_pass_on_the_real_library(
    part: int, corpus: ModuleType, specs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = list(packages(corpus, specs[part::2], tmp_path / "out"))
    rows = corpus.run_tests(folders, sys.executable)
    assert rows["packages whose tests pass"] == len(folders), capsys.readouterr().out
    assert rows["skipped"] == 0
    assert rows["tests"] > 10 * len(folders)


@pytest.mark.untraced
def test_they_are_formatted_and_typed(
    corpus: ModuleType, specs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = packages(corpus, specs, tmp_path / "out")
    assert corpus.formatting(tmp_path / "out") == {"formatted": True, "linted": True}
    assert corpus.types(found, sys.executable) == {"type errors": 0}, capsys.readouterr().out
