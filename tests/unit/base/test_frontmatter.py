from __future__ import annotations

import pytest
import yaml

from checkrein.base import frontmatter


def parse(text: str, known: tuple[str, ...] = ("name", "description", "tools")) -> frontmatter.Frontmatter:
    return frontmatter.parse(text, known)


def test_plain_block_has_values_places_and_body() -> None:
    found = parse("---\nname: x\ndescription: |\n  two\n  lines\nlist:\n  - a\n---\nBody\n")
    assert found.values == {"name": "x", "description": "two\nlines\n", "list": ["a"]}
    assert found.spans["name"].line == 2
    assert (found.spans["description"].line, found.spans["description"].last_line) == (3, 5)
    assert found.body == "Body\n"
    assert found.body_line == 9
    assert found.problems == ()


@pytest.mark.parametrize(
    ("text", "body"),
    [("", ""), ("just text", "just text"), ("# title\n---\na: b\n---\n", "# title\n---\na: b\n---\n")],
)
def test_no_frontmatter(text: str, body: str) -> None:
    found = parse(text)
    assert not found.present
    assert found.body == body
    assert found.body_line == 1


def test_crlf_keeps_lines_and_values() -> None:
    found = parse("---\r\nname: x\r\ntools: a\r\n---\r\nBody\r\n")
    assert found.values == {"name": "x", "tools": "a"}
    assert found.spans["tools"].line == 3
    assert found.body == "Body\r\n"
    assert found.body_line == 5


def test_empty_block() -> None:
    found = parse("---\n---\nBody")
    assert found.present
    assert found.values == {}
    assert found.body_line == 3


def test_unterminated_is_reported_and_everything_is_body() -> None:
    found = parse("---\nname: x\nBody")
    assert [problem.kind for problem in found.problems] == ["unterminated"]
    assert found.body.startswith("---")


def test_colon_in_a_value_is_quoted() -> None:
    found = parse("---\nname: x\ndescription: Use when: always\n---\n")
    assert found.values["description"] == "Use when: always"
    assert [(p.kind, p.span.line) for p in found.problems] == [("quoted", 3)]


def test_only_the_broken_value_is_quoted() -> None:
    found = parse("---\nname: x # comment\ndescription: a: b\n---\n")
    assert found.values == {"name": "x", "description": "a: b"}


def test_lines_without_a_known_field_are_folded() -> None:
    found = parse("---\nname: x\ndescription: first\nExample: do: it\nmore\ntools: a, b\n---\n")
    assert found.values["tools"] == "a, b"
    assert "Example: do: it" in found.values["description"]
    assert [p.kind for p in found.problems] == ["folded"]


def test_hopeless_yaml_is_reported() -> None:
    found = parse("---\n\t\x01: [\n---\nBody")
    assert found.values == {}
    assert [p.kind for p in found.problems] == ["unparsable"]
    assert found.body == "Body"


def test_a_list_is_not_a_mapping() -> None:
    assert [p.kind for p in parse("---\n- a\n- b\n---\n").problems] == ["not_mapping"]


def test_duplicate_keys_are_reported_and_the_last_counts() -> None:
    found = parse("---\nname: a\nname: b\n---\n")
    assert found.values == {"name": "b"}
    assert [p.kind for p in found.problems] == ["duplicate"]


def test_keys_keep_the_name_they_were_written_with() -> None:
    assert parse("---\non: 1\n2: x\n---\n").values == {"on": 1, "2": "x"}


@pytest.mark.parametrize("source", ["[" * 20_000, "- " * 20_000, "? " * 20_000, "a:\n" + " " * 200 + "b: 1"])
def test_deep_nesting_never_crashes(source: str) -> None:
    frontmatter.load_block(source)


def test_alias_bombs_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]" for n in range(1, 9)]
    block = frontmatter.load_block("\n".join(lines))
    assert block.error is not None
    assert "alias" in block.error


def test_a_self_reference_is_refused() -> None:
    assert frontmatter.load_block("a: &a [*a]").error is not None


def test_values_equal_the_plain_loader() -> None:
    source = "name: x\nd: 2024-01-02\nn: 1.5\nb: yes\nm: {a: [1, 2]}\n"
    assert frontmatter.load_block(source).values == yaml.safe_load(source)
