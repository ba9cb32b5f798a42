"""What checks share: patterns, ignore files, edits, secrets, addresses, field names."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.base.origin import Origin, Span
from checkrein.base.secrets import looks_secret, redact_source, secret_lines
from checkrein.model.project import Detection, Place, Project, Sources
from checkrein.passes.checks import edits
from checkrein.passes.checks.addresses import host_of, is_plain_remote
from checkrein.passes.checks.check import Subject
from checkrein.passes.checks.globpatterns import dead_reason, expand, expansions
from checkrein.passes.checks.ignored import is_ignored
from checkrein.passes.checks.secretvalues import is_secret
from checkrein.passes.findings import check
from checkrein.passes.fix import apply_fixes, rewrite
from checkrein.passes.load import load


@pytest.mark.parametrize(
    "pattern", ["src/**", "*.ts", "a/[bc].py", r"a/\[b].py", "{a,b}/*.{ts,tsx}", "docs/"]
)
def test_living_patterns(pattern: str) -> None:
    assert dead_reason(pattern) is None


@pytest.mark.parametrize(
    "pattern", ["", "a/[b.py", "../x/**", "~/x", "src\\a.ts", "{a,b,c,d,e,f,g,h,i,j}" * 4]
)
def test_dead_patterns(pattern: str) -> None:
    assert dead_reason(pattern)


def test_braces() -> None:
    assert expand("{a,b}/{c,d}.ts") == ["a/c.ts", "a/d.ts", "b/c.ts", "b/d.ts"]
    assert expansions("{a,b}/{c,d}.ts") == 4
    assert expansions("a") == 1


def place(root: Path) -> Place:
    return Place(
        cwd=str(root),
        root=str(root),
        root_reason="git",
        home=str(root / "home"),
        config_dir=str(root / "home/.claude"),
        repo_root=str(root),
    )


def test_ignore_files_are_read_from_the_outside_in(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    target = str(tmp_path / "sub" / "CLAUDE.local.md")
    assert not is_ignored(target, place(tmp_path))
    (tmp_path / ".gitignore").write_text("*.local.md\n")
    assert is_ignored(target, place(tmp_path))
    (tmp_path / "sub" / ".gitignore").write_text("!CLAUDE.local.md\n")
    assert not is_ignored(target, place(tmp_path))
    (tmp_path / "sub" / ".gitignore").write_text("# nothing\n")
    assert is_ignored(target, place(tmp_path))


def test_the_users_ignore_file_counts(tmp_path: Path) -> None:
    ignore = tmp_path / "home/.config/git/ignore"
    ignore.parent.mkdir(parents=True)
    ignore.write_text("**/.claude/settings.local.json\n")
    assert is_ignored(str(tmp_path / ".claude/settings.local.json"), place(tmp_path))


def subject(tmp_path: Path) -> Subject:
    return Subject(
        Project(place=place(tmp_path), detection=Detection("claude_code", {}, ()), sources=Sources())
    )


def test_edits_change_what_they_say_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"one": 1, "two": 2, "three": 2}\n')
    over = subject(tmp_path)
    origin = Origin(str(file), "project", Span(1, 2, 1, 10))
    renamed = edits.rename(over, origin, "one", "uno")
    assert renamed
    assert rewrite(file.read_text(), renamed.edits) == '{"uno": 1, "two": 2, "three": 2}\n'
    assert edits.rename(over, origin, "two", "x") is None, "another key stands there"
    whole = origin.at(Span(1, 1, 1, 0))
    assert edits.swap(over, whole, "2", "3", "t") is None, "two places"
    swapped = edits.swap(over, whole, '"two"', '"dos"', "t")
    assert swapped
    assert '"dos": 2' in rewrite(file.read_text(), swapped.edits)
    assert edits.swap(over, origin, '"two"', "x", "t") is None, "outside the span"


def test_inserted_lines_take_the_files_line_ends(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"---\r\na: b\r\n---\r\n")
    fix = edits.insert_line(subject(tmp_path), str(file), 2, "name: x", "t")
    assert rewrite("---\r\na: b\r\n---\r\n", fix.edits) == "---\r\nname: x\r\na: b\r\n---\r\n"


def test_fixes_stay_inside_the_project_and_keep_a_byte_order_mark(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "root"
    (root / ".git").mkdir(parents=True)
    text = (
        "---\nname: a\ndescription: Use when asked to review.\ndisallowed_tools: Bash(git *)\n---\nDo it.\n"
    )
    files = [root / ".claude/skills/a/SKILL.md", home / ".claude/skills/b/SKILL.md"]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text("\ufeff" + text.replace("name: a", f"name: {file.parent.name}"), "utf-8")
    found = check(load(root, env={"HOME": str(home)}, home=str(home)), ["CC001"])
    assert len(found) == 2
    assert [finding.fix is not None for finding in found] == [False, True]
    apply_fixes(found)
    assert files[0].read_text("utf-8").startswith("\ufeff---\nname: a\n")
    assert "disallowed-tools: Bash" in files[0].read_text("utf-8")
    assert "disallowed_tools: Bash" in files[1].read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DEPLOY_TOKEN", "3f9c1d77a2b84e60"),
        ("X", "ghp_" + "a1" * 12),
        ("Authorization", "Bearer 3f9c1d77a2b84e60"),
        ("DB_PASSWORD", "Tr0ub4dor"),
    ],
)
def test_secrets(name: str, value: str) -> None:
    assert is_secret(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DEPLOY_TOKEN", "${DEPLOY_TOKEN}"),
        ("Authorization", "Bearer ${TOKEN}"),
        ("Authorization", "Basic $TOKEN"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/keys/one.json"),
        ("AUTH_URL", "https://auth.example.com"),
        ("AUTH_METHOD", "kerberos"),
        ("TOKEN", "<your token>"),
        ("MAX_TOKENS", "32000"),
        ("TOKEN", 7),
        ("DB", "postgres://app:${PASSWORD}@db/main"),
    ],
)
def test_no_secrets(name: str, value: object) -> None:
    assert not is_secret(name, value)


def test_secret_lines_agree_with_the_expression() -> None:
    lines = [
        "see task-description-research-notes",
        "key AKIA" + "QW3ERTY7UIOPASD2",
        "https://example.com/a?b=c",
        "https://user:hunter2x@example.com",
        "token sk-ant-" + "a1b2c3d4e5f6g7h8",
        "authorization: bearer " + "abcdef0123456789",
    ]
    text = "\n".join(lines)
    assert secret_lines(text) == [n for n, line in enumerate(lines, 1) if looks_secret(line)] == [2, 4, 5, 6]


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("http://example.com/x", True),
        ("ws://example.com", True),
        ("https://example.com", False),
        ("http://localhost:8080", False),
        ("http://127.0.0.2/x", False),
        ("http://[::1]:80/", False),
        ("http://${HOST}/x", False),
        ("http://[bad", False),
    ],
)
def test_plain_addresses(url: str, plain: bool) -> None:
    assert is_plain_remote(url) is plain


def test_hosts_never_show_credentials() -> None:
    assert host_of("http://user:hunter2@example.com:80/x") == "example.com"


@pytest.mark.parametrize(
    "line",
    [
        '  "env": {"DEPLOY_TOKEN": "3f9c1d77a2b84e60"}',
        '"args": ["-y", "--api-key", "3f9c1d77a2b84e60"]',
        '"args": ["--token=3f9c1d77a2b84e60"]',
        "DB_PASSWORD=3f9c1d77a2b84e60",
        "apiKey: 3f9c1d77a2b84e60",
        "key AKIA3F9C1D77A2B84E60 here",
    ],
)
def test_source_lines_hide_secrets(line: str) -> None:
    assert "3f9c1d77a2b84e60" not in redact_source(line).lower()


def test_source_lines_stay_as_they_are() -> None:
    line = '  "env": {"TOKEN": "${TOKEN}"}, "region": "eu-west-1", "name": "tidy"'
    assert redact_source(line) == line
