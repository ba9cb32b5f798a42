"""spec-kit extensions: manifest, commands, aliases, tokens and paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.dialects.spec_kit.read import read, rewrite
from checkrein.model.project import Sources

HEAD = 'schema_version: "1.0"\nextension:\n  id: ext\n  name: Ext\n  version: 1.0.0\n  author: me\n'


def make(root: Path, commands: str, **files: str) -> Sources:
    (root / "commands").mkdir(exist_ok=True)
    (root / "extension.yml").write_text(HEAD + "provides:\n  commands:\n" + commands)
    for name, text in files.items():
        (root / "commands" / f"{name}.md").write_text(text)
    return read(str(root))


RUN = "    - name: speckit.ext.run\n      file: commands/run.md\n"


def codes(sources: Sources) -> list[str]:
    return [found.code for found in sources.diagnostics]


def test_a_command_with_its_aliases(tmp_path: Path) -> None:
    sources = make(
        tmp_path, RUN + "      aliases: [speckit.ext.go]\n", run="---\ndescription: Run\n---\nRun.\n"
    )
    assert [command.name for command in sources.commands] == ["speckit.ext.run", "speckit.ext.go"]
    assert sources.commands[0].metadata == {"author": "me", "source": "ext:commands/run.md"}
    assert sources.commands[1].description == "Run"


def test_the_file_wins_over_the_manifest_key_by_key(tmp_path: Path) -> None:
    entry = RUN + (
        "      description: From the manifest\n"
        "      behavior: {effort: max, capability: strong}\n"
        "      agents: {claude: {color: red, paths: a}}\n"
    )
    body = "---\nbehavior:\n  effort: low\nagents:\n  claude:\n    color: blue\n---\nRun.\n"
    command = make(tmp_path, entry, run=body).commands[0]
    assert command.behavior == {"effort": "low", "capability": "strong"}
    assert command.agents == {"claude": {"color": "blue", "paths": "a"}}
    assert command.description == "From the manifest"


def test_a_behavior_that_is_no_mapping_lets_the_manifest_win(tmp_path: Path) -> None:
    entry = RUN + "      behavior: {effort: max}\n"
    command = make(tmp_path, entry, run="---\nbehavior: fast\n---\nRun.\n").commands[0]
    assert command.behavior == {"effort": "max"}
    assert command.unknown["behavior"] == "fast"


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("    - name: bad name\n      file: commands/run.md\n", "SPK003"),
        ("    - name: speckit.ext.run\n      file: ../outside.md\n", "SPK003"),
        ("    - name: speckit.ext.run\n      file: /etc/passwd\n", "SPK003"),
        ("    - name: speckit.ext.run\n      file: commands/missing.md\n", "SPK003"),
        ("    - just text\n", "SPK003"),
        ("    - name: ext.run\n      file: commands/run.md\n", "SPK004"),
        ("    - name: speckit.other.run\n      file: commands/run.md\n", "SPK005"),
    ],
)
def test_broken_entries_are_reported_with_their_line(tmp_path: Path, entry: str, code: str) -> None:
    sources = make(tmp_path, entry, run="Run.\n")
    assert code in codes(sources)
    found = next(one for one in sources.diagnostics if one.code == code)
    assert found.origin.line == 9


def test_a_second_entry_has_its_own_line(tmp_path: Path) -> None:
    sources = make(tmp_path, RUN + "\n    - name: bad name\n      file: x\n", run="Run.\n")
    assert [found.origin.line for found in sources.diagnostics] == [12]
    assert len(sources.commands) == 1


@pytest.mark.parametrize(
    "text", ["", "[", "extension: 3\n", 'schema_version: "1.0"\nextension: {id: "BAD ID"}\n']
)
def test_a_broken_manifest_gives_no_commands_and_no_exception(tmp_path: Path, text: str) -> None:
    (tmp_path / "extension.yml").write_text(text)
    sources = read(str(tmp_path))
    assert sources.commands == ()
    assert codes(sources)


def test_no_manifest_is_reported(tmp_path: Path) -> None:
    assert codes(read(str(tmp_path))) == ["SPK001"]


def test_a_link_out_of_the_extension_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    root = tmp_path / "ext"
    (root / "commands").mkdir(parents=True)
    (root / "commands" / "run.md").symlink_to(tmp_path / "secret.md")
    sources = make(root, RUN)
    assert sources.commands == ()
    assert codes(sources) == ["SPK003"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("run scripts/a.sh", "run .specify/extensions/ext/scripts/a.sh"),
        ("see templates/b.md", "see .specify/templates/b.md"),
        ("see ./memory/c.md", "see .specify/memory/c.md"),
        ("docs/scripts/a.sh stays", "docs/scripts/a.sh stays"),
        (".specify/scripts/a.sh stays", ".specify/scripts/a.sh stays"),
        ("$EXTENSION_PATH/x and $EXTENSION_PATH", ".specify/extensions/ext/x and .specify/extensions/ext"),
        ("{SCRIPT} {ARGS}", "run.sh $ARGUMENTS"),
        ("__AGENT__ stays", "__AGENT__ stays"),
        ("subscripts/a stays", "subscripts/a stays"),
    ],
)
def test_tokens_and_paths(text: str, expected: str) -> None:
    assert rewrite(text, "ext", ("scripts",), "run.sh") == expected
