"""Axes that contradict each other stop a compile; the specs here really say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.base.errors import CheckreinError
from checkrein.compile.classify import contradiction
from checkrein.compile.package import Compiled, compile_spec
from checkrein.facts.compile import ARCHETYPES, MODALITIES

OPENCLAW = {
    "SOUL.md": "# Soul\n\nYou are Ada.\n",
    "AGENTS.md": "# Rules\n\nNever shout.\n",
    "HEARTBEAT.md": "Look at the queue.\n",
    "openclaw.json": '{"agents": {"defaults": {"heartbeat": {"every": "30m"}}}}',
}


def build(base: Path, fields: str, body: str = "Do it.", files: dict[str, str] | None = None) -> Compiled:
    (base / ".git").mkdir()
    for name, text in (files or {}).items():
        (base / name).write_text(text)
    path = base / "SKILL.md"
    path.write_text(f"---\nname: demo\ndescription: d\n{fields}---\n\n{body}\n")
    return compile_spec(path, env={"HOME": str(base / "home")})


@pytest.mark.parametrize(
    ("fields", "body", "files"),
    [
        ("modality: [heartbeat, synchronous_oneshot]\n", "Do it.", {}),
        ("modality: heartbeat\n", "Run `claude -p` once.", {}),
        ("modality: synchronous_oneshot\n", "Do it.", OPENCLAW),
    ],
    ids=["both", "print", "workspace"],
)
def test_a_heartbeat_is_no_single_run(tmp_path: Path, fields: str, body: str, files: dict[str, str]) -> None:
    with pytest.raises(
        CheckreinError, match="heartbeat and synchronous_oneshot exclude each other"
    ) as caught:
        build(tmp_path, fields, body, files)
    assert caught.value.kind == "classification_halt"


def test_what_is_no_contradiction(tmp_path: Path) -> None:
    made = build(tmp_path, "modality: [streaming, heartbeat]\n", "Do it.").classification
    assert (made.modality, made.secondary_modalities, made.halt) == ("streaming", ["heartbeat"], None)


def test_an_unknown_modality_is_told(tmp_path: Path) -> None:
    made = build(tmp_path, "modality: sometimes\n").classification
    assert made.modality == "synchronous_oneshot"
    assert any("sometimes" in warning for warning in made.warnings)


def test_the_table_of_contradictions() -> None:
    """An integration is only told by its tools, so that no spec has one without; the rule stands anyway."""
    halting = [
        (archetype, variant)
        for archetype in ARCHETYPES
        for variant in ("P0", "P2", "P3", "P4")
        if contradiction(archetype, variant, ("streaming",)) is not None  # type: ignore[arg-type]  # all variants
    ]
    assert halting == [("D1", "P0")]
    pairs = {
        frozenset((one, other))
        for one in MODALITIES
        for other in MODALITIES
        if contradiction("A", "P0", (one, other)) is not None
    }
    assert pairs == {frozenset({"heartbeat", "synchronous_oneshot"})}
