"""One call: masks in its output, values in the file that it edits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.secret_spans import MASK
from checkrein.runtime.secrets.cover import Cover
from checkrein.runtime.secrets.exposure import exposure
from checkrein.runtime.secrets.report import findings
from checkrein.runtime.secrets.vault import Vault
from checkrein.runtime.tools.port import ToolOutput

AWS = "AKIA" + "Q3EGRZ7XMPLW2T9B"
OTHER = "ghp_" + "9aB3xK7mQ2wE5rT8yU1iO4pL6sD0fG"


@pytest.fixture
def vault() -> Vault:
    return Vault(("credential-of-ours",), lambda: b"k" * 32)


def cover(vault: Vault, *shown: str, tool: str = "Read", root: Path = Path("/p")) -> Cover:
    return Cover(vault, exposure(shown, root=str(root), home="/h"), tool)


@pytest.mark.parametrize(
    "structured",
    [
        {"file": {"content": f"a\n{AWS}\n", "lines": [f"x {AWS}", 1, None, True]}},
        {"env": {"DB_PASSWORD": "Tr0ub4dor&3"}, "list": [{"apiKey": "abcd1234efgh5678ij"}]},
        {f"key {AWS}": 1},
        f"{AWS}",
        [f"ghp.{AWS}.txt", ("t", AWS)],
        json.dumps({"inner": json.dumps({"password": "S3cret/Pass!"})}),
    ],
)
def test_structured_output(vault: Vault, structured: Any) -> None:
    shown = cover(vault).output(ToolOutput(content="", structured=structured)).structured
    said = json.dumps(shown, ensure_ascii=False)
    assert MASK.search(said)
    assert not any(secret in said for secret in (AWS, "Tr0ub4dor", "abcd1234", "S3cret"))


def test_each_value_is_found_once_with_its_line(vault: Vault) -> None:
    one = cover(vault)
    one.text(f"a\nb {AWS}\nc {AWS}", "/p/x", 10)
    (notice,) = findings(one, "Read", "/p")
    assert notice.finding is not None
    assert str(notice.finding.origin) == "/p/x:11"
    again = cover(vault)
    again.text(AWS, "/p/y", 1)
    assert list(findings(again, "Read", "/p")) == []


def test_a_finding_does_not_name_a_secret_in_a_file_name(vault: Vault) -> None:
    one = cover(vault)
    one.text(AWS, f"/p/{OTHER}.txt", 1)
    (notice,) = findings(one, "Read", "/p")
    assert OTHER not in str(notice)


class TestRevealed:
    def test_only_what_the_file_holds(self, vault: Vault, tmp_path: Path) -> None:
        (tmp_path / "a").write_text(f"k={AWS}\n")
        (tmp_path / "b").write_text(f"k={OTHER}\n")
        one = cover(vault, tool="Edit")
        mask, strange = vault.masked(AWS), vault.masked(OTHER)
        filled, problem = one.revealed(
            {"old_string": mask, "edits": [{"new": f"{mask}!"}]}, (str(tmp_path / "a"),)
        )
        assert (filled, problem) == ({"old_string": AWS, "edits": [{"new": f"{AWS}!"}]}, None)
        given = {"content": f"{mask} {strange}"}
        kept, problem = one.revealed(given, (str(tmp_path / "a"),))
        assert kept == given
        assert problem is not None
        assert strange in problem

    def test_after_a_resume_the_file_alone_is_enough(self, vault: Vault, tmp_path: Path) -> None:
        (tmp_path / "a").write_text(f"k={AWS}\n")
        fresh = Vault(key=lambda: b"k" * 32)
        filled, _ = cover(fresh, tool="Edit").revealed(
            {"old_string": vault.masked(AWS)}, (str(tmp_path / "a"),)
        )
        assert filled == {"old_string": AWS}

    def test_a_mask_in_another_kind_of_word_is_the_same_secret(self, vault: Vault, tmp_path: Path) -> None:
        (tmp_path / "a").write_text(f"k={AWS}\n")
        mask = vault.masked(AWS).replace("aws-key", "password")
        assert cover(vault).revealed({"x": mask}, (str(tmp_path / "a"),))[0] == {"x": AWS}

    def test_a_file_that_holds_the_mask_itself(self, vault: Vault, tmp_path: Path) -> None:
        mask = vault.masked(AWS)
        (tmp_path / "a").write_text(f"masks look like {mask}\n")
        assert cover(vault).revealed({"old_string": mask}, (str(tmp_path / "a"),)) == (
            {"old_string": mask},
            None,
        )

    def test_a_link_to_the_file_with_the_secret_does_not_count(self, vault: Vault, tmp_path: Path) -> None:
        (tmp_path / "a").write_text(f"k={AWS}\n")
        (tmp_path / "b").symlink_to("a")
        assert cover(vault).revealed({"x": vault.masked(AWS)}, (str(tmp_path / "b"),))[1] is not None

    def test_notebooks(self, vault: Vault, tmp_path: Path) -> None:
        cells = [{"cell_type": "code", "source": ["PASSWORD = 'S3cret\"Pass!'\n"]}]
        (tmp_path / "n.ipynb").write_text(json.dumps({"cells": cells}))
        one = cover(vault)
        shown = one.text("PASSWORD = 'S3cret\"Pass!'\n")
        assert one.revealed({"new_source": shown}, (str(tmp_path / "n.ipynb"),))[0] == {
            "new_source": "PASSWORD = 'S3cret\"Pass!'\n"
        }


class TestExposure:
    def test_files_and_tools(self, vault: Vault) -> None:
        assert cover(vault, "Read(tests/**)").text(AWS, "/p/tests/a/b") == AWS
        assert cover(vault, "Read(tests/**)").text(AWS, "/p/src/a") != AWS
        assert cover(vault, "Read(//x/*.env)").text(AWS, "/x/a.env") == AWS
        assert cover(vault, "mcp__vault__*", tool="mcp__vault__get").text(AWS) == AWS
        assert cover(vault, "mcp__vault__*", tool="mcp__other__get").text(AWS) != AWS
        assert cover(vault, "(", "Read(", "Bash(ls)", tool="Bash").text(AWS, "/p/x") != AWS

    def test_never_our_own(self, vault: Vault) -> None:
        assert "credential-of-ours" not in cover(vault, "Read", "Read(**)").text("credential-of-ours", "/p/a")

    def test_what_one_file_shows_another_still_hides(self, vault: Vault) -> None:
        one = cover(vault, "Read(tests/**)")
        assert one.text(AWS, "/p/tests/a") == AWS
        assert OTHER not in one.text(OTHER, "/p/src/a")
