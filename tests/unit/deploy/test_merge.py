"""Keys of ours in files of the user: put in, updated, kept apart, taken out to the byte."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from checkrein.base.jsonc import strict
from checkrein.deploy.merge import Merge, Merged, Refused, merge_json, parts_of, pointer
from checkrein.deploy.tomlsection import BEGIN, merge_toml

SERVER = {"command": "npx", "args": ["docs"]}
WANTED: dict[str, Any] = {"mcpServers": {"docs": SERVER}, "hooks": {"Pre": [{"run": "a"}, {"run": "b"}]}}


def joined(text: str, wanted: dict[str, Any] = WANTED, old: Merge | None = None, **how: bool) -> Merged:
    found = merge_json(text, wanted, old or Merge(), **how)
    assert isinstance(found, Merged), found
    return found


STYLES = {
    "two_spaces": '{\n  "theme": "a",\n  "mcpServers": {\n    "own": {\n      "command": "x"\n    }\n  }\n}',
    "tabs": '{\n\t"theme": "dark",\n\t"hooks": {\n\t\t"Pre": [\n\t\t\t{"run": "own"}\n\t\t]\n\t}\n}',
    "one_line": '{"theme": "dark", "mcpServers": {"own": {"command": "x"}}, "hooks": {"Pre": [1]}}',
    "tight": '{"theme":"dark","mcpServers":{},"hooks":{"Pre":[]}}',
    "empty": "{}",
    "empty_with_space": "{ \n\n }\n\n",
    "empty_inside": '{\n  "mcpServers": { },\n  "hooks": {\n  }\n}\n',
    "crlf": '{\r\n  "theme": "dark"\r\n}\r\n',
    "unicode": '{\n    "thème": "\\u00e9 é 🙂",\n    "n": 1.50e+3\n}',
}


@pytest.mark.parametrize("text", STYLES.values(), ids=STYLES)
def test_what_goes_in_comes_out_to_the_byte(text: str) -> None:
    there = joined(text)
    value = json.loads(there.text)
    assert value["mcpServers"]["docs"] == SERVER
    assert value["hooks"]["Pre"][-2:] == WANTED["hooks"]["Pre"]
    theirs = json.loads(text)
    assert {key: value[key] for key in theirs if key not in WANTED} == {
        key: theirs[key] for key in theirs if key not in WANTED
    }
    again = joined(there.text, old=there.merge)
    assert (again.text, again.merge) == (there.text, there.merge)
    assert joined(there.text, {}, there.merge).text == text


def test_new_lines_follow_the_style_of_the_file() -> None:
    there = joined(STYLES["two_spaces"], {"mcpServers": {"docs": SERVER}}).text
    assert there == (
        '{\n  "theme": "a",\n  "mcpServers": {\n    "own": {\n      "command": "x"\n    },\n'
        '    "docs": {\n      "command": "npx",\n      "args": [\n        "docs"\n      ]\n    }\n  }\n}'
    )
    assert joined(STYLES["tabs"], {"a": {"b": 1}}).text.endswith('\t},\n\t"a": {\n\t\t"b": 1\n\t}\n}')
    assert joined('{"x": 1}', {"a": {"b": [1]}}).text == '{"x": 1, "a": {"b": [1]}}'
    assert "\r\n" in joined(STYLES["crlf"], {"a": {"b": 1}}).text
    assert "\n" not in joined(STYLES["crlf"], {"a": {"b": 1}}).text.replace("\r\n", "")


def test_the_same_value_of_the_user_stays_the_users() -> None:
    text = json.dumps({"mcpServers": {"docs": SERVER}, "hooks": {"Pre": [{"run": "a"}]}})
    there = joined(text)
    assert there.merge.keys == {}
    assert len(there.merge.elements["/hooks/Pre"]) == 1
    assert joined(there.text, {}, there.merge).text == text


def test_a_key_that_is_taken_stays() -> None:
    text = json.dumps({"mcpServers": {"docs": {"command": "mine"}}, "hooks": []})
    there = joined(text)
    assert (there.text, there.taken, there.edited) == (text, ("/mcpServers/docs", "/hooks"), ())
    assert there.merge.is_empty
    forced = joined(text, force=True)
    assert json.loads(forced.text)["mcpServers"]["docs"] == SERVER
    assert forced.taken == ("/hooks",), "a value of another kind is never replaced key by key"


def test_an_edited_key_stays_until_it_is_as_it_was() -> None:
    there = joined("{}")
    edited = there.text.replace('"npx"', '"other"')
    again = joined(edited, old=there.merge)
    assert (again.text, again.edited, again.taken) == (edited, ("/mcpServers/docs",), ())
    assert joined(there.text, old=again.merge).edited == ()
    undone = joined(edited, {}, again.merge)
    assert undone.edited == ("/mcpServers/docs",)
    assert json.loads(undone.text) == {"mcpServers": {"docs": {"command": "other", "args": ["docs"]}}}
    assert json.loads(joined(edited, old=there.merge, force=True).text)["mcpServers"]["docs"] == SERVER


def test_an_edited_element_is_not_added_again() -> None:
    there = joined('{"x": 1}')
    edited = there.text.replace('"run": "a"', '"run": "changed"')
    again = joined(edited, old=there.merge)
    assert (again.text, again.edited) == (edited, ("/hooks/Pre",))
    forced = json.loads(joined(edited, old=there.merge, force=True).text)
    assert {"run": "a"} in forced["hooks"]["Pre"]
    undone = joined(edited, {}, there.merge)
    assert json.loads(undone.text) == {"x": 1, "hooks": {"Pre": [{"run": "changed"}]}}
    assert undone.edited == ("/hooks/Pre",)


def test_a_run_that_was_cut_off_is_finished() -> None:
    done = joined('{"x": 1}')
    again = joined('{"x": 1}', old=done.merge, lenient=True)
    assert again.text == done.text


def test_updates_change_what_changed() -> None:
    there = joined('{"x": 1}')
    later = {"mcpServers": {"docs": {"command": "uvx"}, "more": SERVER}, "hooks": {"Pre": [{"run": "b"}]}}
    again = joined(there.text, later, there.merge)
    assert json.loads(again.text) == {"x": 1, **later}
    assert joined(again.text, {}, again.merge).text == '{"x": 1}'
    gone = joined(again.text, {"hooks": later["hooks"]}, again.merge)
    assert json.loads(gone.text) == {"x": 1, "hooks": later["hooks"]}


def test_what_the_user_adds_between_stays() -> None:
    there = joined("{}")
    value = json.loads(there.text)
    value["mcpServers"]["own"] = {"command": "y"}
    value["hooks"]["Pre"].insert(0, {"run": "own"})
    value["theme"] = "dark"
    text = json.dumps(value, indent=4)
    assert joined(text, old=there.merge).text == text, "ours are there; nothing is written"
    assert json.loads(joined(text, {}, there.merge).text) == {
        "mcpServers": {"own": {"command": "y"}},
        "hooks": {"Pre": [{"run": "own"}]},
        "theme": "dark",
    }


@pytest.mark.parametrize(
    ("text", "word", "line"),
    [
        ('{\n  // mine\n  "a": 1\n}', "strict JSON", 2),
        ('{"a": 1,}', "strict JSON", 1),
        ("", "strict JSON", 1),
        ("[]", "not a JSON object", 1),
        ('{"a": 1,\n "a": 2}', "twice", 2),
    ],
    ids=["comment", "comma", "nothing", "list", "twice"],
)
def test_what_could_lose_something_is_refused(text: str, word: str, line: int) -> None:
    found = merge_json(text, WANTED, Merge())
    assert isinstance(found, Refused)
    assert word in found.reason
    assert found.line == line


COMMENTED = {
    "above": '{\n  // mine\n  "theme": "a"\n}',
    "behind": '{\n  "theme": "a" // mine\n}\n',
    "behind_a_comma": '{\n  "theme": "a", // mine\n}\n',
    "block": '{"theme": "a" /* mine */}',
    "block_of_lines": '{\n  "theme": "a" /* mine\n  and more */\n}',
    "only": "{\n  // nothing yet\n}\n",
    "only_inside": '{"hooks": { /* none */ }, "mcpServers": {\n    // soon\n  }}',
    "around": '// first\n{ "theme": "a" } // last\n',
    "commas": '{\n  "theme": "a",\n  "hooks": {\n    "Pre": [\n      1, // one\n    ],\n  },\n}\n',
    "one_line": '{"theme": "a", "hooks": {"Pre": [1,],},}',
    "line_inside_a_line": '{"theme": "a" // mine\n}',
    "crlf": '{\r\n  "theme": "a", // mine\r\n  /* b */ "n": 1\r\n}\r\n',
    "signs": '{\n  "url": "http://x/*y*/", // "a": 1, }\n  "s": "\\" // no"\n}',
}


@pytest.mark.parametrize("text", COMMENTED.values(), ids=COMMENTED)
def test_comments_stay_and_what_goes_in_comes_out_to_the_byte(text: str) -> None:
    def merged(text: str, wanted: dict[str, Any], old: Merge) -> Merged:
        found = merge_json(text, wanted, old, comments="commas")
        assert isinstance(found, Merged), found
        return found

    there = merged(text, WANTED, Merge())
    value = json.loads(strict(there.text))
    assert value["mcpServers"]["docs"] == SERVER
    assert value["hooks"]["Pre"][-2:] == WANTED["hooks"]["Pre"]
    for note in re.findall(r"//[^\r\n]*|/\*.*?\*/", text, re.DOTALL):
        assert note in there.text
    assert merged(there.text, WANTED, there.merge) == there
    assert merged(there.text, {}, there.merge).text == text


def test_a_comment_in_what_is_ours_keeps_it() -> None:
    there = joined('{"x": 1}', {"mcpServers": {"docs": SERVER}})
    noted = there.text.replace('"npx"', '"npx" /* why */')
    undone = merge_json(noted, {}, there.merge, comments="comments")
    assert isinstance(undone, Merged)
    assert (undone.text, undone.edited) == (noted, ("/mcpServers/docs",))


def test_a_comment_in_an_element_of_ours_keeps_it() -> None:
    there = joined('{"x": 1}', {"hooks": {"Pre": [{"run": "a"}, {"run": "b"}]}})
    noted = there.text.replace('"a"', '"a" /* why */')
    undone = merge_json(noted, {}, there.merge, comments="comments")
    assert isinstance(undone, Merged)
    assert undone.edited == ("/hooks/Pre",)
    assert "/* why */" in undone.text
    assert json.loads(strict(undone.text)) == {"x": 1, "hooks": {"Pre": [{"run": "a"}]}}


def test_a_comment_that_came_later_stays() -> None:
    there = joined('{"x": {}}', {"x": {"docs": SERVER}})
    noted = there.text.replace('{"x": {', '{"x": { /* mine */ ')
    undone = merge_json(noted, {}, there.merge, comments="comments")
    assert isinstance(undone, Merged)
    assert json.loads(strict(undone.text)) == {"x": {}}
    assert "/* mine */" in undone.text


def test_commas_need_an_agent_that_takes_them() -> None:
    text = '{"a": 1, /* x */ }'
    assert isinstance(merge_json(text, WANTED, Merge(), comments="comments"), Refused)
    assert isinstance(merge_json(text, WANTED, Merge(), comments="commas"), Merged)
    assert isinstance(merge_json('{"a": [,]}', WANTED, Merge(), comments="commas"), Refused)


def test_pointers() -> None:
    for parts in (("a",), ("amp.mcpServers", "x/y~z"), ()):
        assert parts_of(pointer(parts)) == parts


TOML = {
    "empty": "",
    "plain": '# mine\nmodel = "x"\n\n[mcp_servers.own]\ncommand = "y"\n',
    "no_newline": 'model = "x" # mine',
    "arrays": "[[profiles]]\na = 1\n\n\n",
}
TABLES: dict[str, Any] = {"mcp_servers": {"docs": {"command": "npx", "env": {"A": "b"}}}}


def toml(text: str, wanted: dict[str, Any] = TABLES, old: Merge | None = None, **how: bool) -> Merged:
    found = merge_toml(text, wanted, old or Merge(), **how)
    assert isinstance(found, Merged), found
    return found


@pytest.mark.parametrize("text", TOML.values(), ids=TOML)
def test_a_toml_section_goes_in_and_out_to_the_byte(text: str) -> None:
    import tomllib

    there = toml(text)
    assert there.text.startswith(text)
    assert tomllib.loads(there.text)["mcp_servers"]["docs"] == TABLES["mcp_servers"]["docs"]
    assert toml(there.text, old=there.merge) == there
    assert toml(there.text, {}, there.merge).text == text
    more = there.text + "\n[later]\nx = 1\n"
    assert toml(more, old=there.merge).text == more
    updated = toml(more, {"mcp_servers": {"docs": {"command": "uvx"}}}, there.merge)
    assert tomllib.loads(updated.text)["later"] == {"x": 1}
    assert toml(updated.text, {}, updated.merge).text == text + "\n[later]\nx = 1\n"


def test_a_toml_section_that_was_edited_stays() -> None:
    there = toml("a = 1\n")
    edited = there.text.replace("npx", "other")
    assert toml(edited, old=there.merge).edited == ("section",)
    assert toml(edited, {}, there.merge).text == edited
    assert "npx" in toml(edited, old=there.merge, force=True).text


def test_tables_of_the_user_stay() -> None:
    same = '[mcp_servers.docs]\ncommand = "npx"\nenv = {A = "b"}\n'
    assert toml(same).text == same
    other = '[mcp_servers.docs]\ncommand = "mine"\n'
    assert (toml(other).text, toml(other).taken) == (other, ("/mcp_servers/docs",))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a = ", "not TOML"),
        ("mcp_servers = {x = {command = 'y'}}\n", "can't"),
        (f"{BEGIN}\n", "part of deploy's"),
    ],
    ids=["broken", "inline", "torn"],
)
def test_toml_that_could_lose_something_is_refused(text: str, word: str) -> None:
    found = merge_toml(text, TABLES, Merge())
    assert isinstance(found, Refused)
    assert word in found.reason
