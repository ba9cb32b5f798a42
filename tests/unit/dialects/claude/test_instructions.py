"""Instruction files that a caller chooses, with a reach of imports of its own."""

from collections.abc import Callable, Mapping
from pathlib import Path

from checkrein.base.diagnostic import Diagnostic
from checkrein.dialects.claude.instructions import AGAIN, OUTSIDE, Chosen, Reach, read_chosen, too_deep
from checkrein.dialects.claude.place import locate
from checkrein.dialects.codes import Log
from checkrein.model.items import Instruction

Tree = Callable[[Mapping[str, str]], Path]


def read(root: Path, chosen: list[Chosen], reach: Reach, log: list[Diagnostic]) -> tuple[Instruction, ...]:
    place = locate(str(root / "p"), env={}, home=str(root / "home"), managed_dir=str(root / "none")).place
    return read_chosen(place, chosen, log, reach=reach)


def test_text_as_it_is_written(tree: Tree) -> None:
    text = "<!--\nhidden @b.md\n-->\n\nSee @a.md and @missing.md\n"
    root = tree({"p/.git/": "", "p/CLAUDE.md": text, "p/a.md": "<!-- c -->\n\nA\n"})
    chosen = [Chosen(str(root / "p/CLAUDE.md"), "project")]
    log = Log()
    memory, imported = read(root, chosen, Reach(verbatim=True), log)
    assert (memory.text, imported.text) == (text, "<!-- c -->\n\nA\n")
    assert [(one.text, one.span.line) for one in memory.imports] == [("a.md", 5), ("missing.md", 5)]
    stripped, _ = read(root, chosen, Reach(), log)
    assert "hidden" not in stripped.text


def test_markdown_is_parsed_only_where_an_import_names_a_file(tree: Tree) -> None:
    root = tree({"p/.git/": "", "p/CLAUDE.md": "Mail to @someone or see @missing.md\n"})
    log = Log()
    (memory,) = read(root, [Chosen(str(root / "p/CLAUDE.md"), "project")], Reach(verbatim=True), log)
    assert (memory.imports, log) == ((), [])


def test_a_body_keeps_the_lines_of_its_file(tree: Tree) -> None:
    root = tree({"p/.git/": "", "p/a.md": "A"})
    chosen = [Chosen(str(root / "p/SKILL.md"), "project", "\nSee @a.md\n", 5)]
    body, imported = read(root, chosen, Reach(verbatim=True), Log())
    assert (body.imports[0].span.line, imported.imported_by) == (6, str(root / "p/SKILL.md"))


def test_depth_and_roots(tree: Tree) -> None:
    files = {f"p/f{n}.md": f"{n} @f{n + 1}.md" for n in range(1, 8)}
    root = tree({"p/.git/": "", "p/CLAUDE.md": "@f1.md", "home/.claude/CLAUDE.md": "@more.md", **files})
    (root / "home/.claude/more.md").write_text("more")
    log = Log()
    chosen = [
        Chosen(str(root / "home/.claude/CLAUDE.md"), "user"),
        Chosen(str(root / "p/CLAUDE.md"), "project"),
    ]
    found = read(root, chosen, Reach(hops=5, roots=(str(root / "p"),)), log)
    assert [Path(item.name).name for item in found] == [
        "CLAUDE.md",
        "CLAUDE.md",
        *(f"f{n}.md" for n in range(1, 6)),
    ]
    assert found[0].imports[0].skipped == OUTSIDE
    assert found[-1].imports[0].skipped == too_deep(5)
    assert [one.code for one in log] == ["IMP002", "IMP003"]
    free = read(root, chosen[:1], Reach(), log)
    assert [Path(item.name).name for item in free] == ["CLAUDE.md", "more.md"]


def test_every_file_is_read_once(tree: Tree) -> None:
    root = tree({"p/.git/": "", "p/CLAUDE.md": "@sub/CLAUDE.md", "p/sub/CLAUDE.md": "near @../CLAUDE.md"})
    chosen = [Chosen(str(root / name), "project") for name in ("p/CLAUDE.md", "p/sub/CLAUDE.md")]
    found = read(root, chosen, Reach(), Log())
    assert [item.kind for item in found] == ["memory", "import"]
    assert found[1].imports[0].skipped == AGAIN
