"""Every verb of `checkrein machine`, outcome by outcome: status, document, schema, golden file, same bytes.

`CHECKREIN_UPDATE_GOLDEN=1` writes the golden files in data/machine; read the diff before you commit it.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import platform
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import checkrein
from checkrein.base import ids
from checkrein.cli import registry
from checkrein.cli.main import run
from checkrein.cli.schema import make_schema
from checkrein.protocol.machine.kinds import COMMON, KINDS, PARSE
from checkrein.protocol.machine.verbs import MACHINE, MODES, OPT_OUT

GOLDEN = Path(__file__).parent / "data" / "machine"
ROOT = Path(__file__).parents[2]
COMMON_FIELDS = ["timestamp", "command", "exit_code", "output_format", "schema_version"]
MODEL = ("--model", "scripted:../talk.jsonl")
USAGE = {"input": 10, "output": 2}
TALK = [
    {"text": "", "tool_calls": [{"name": "Read", "input": {"file_path": "a.txt"}}], "usage": USAGE},
    {"text": "It says alpha.", "usage": USAGE},
    {"text": "Nothing more.", "usage": USAGE},
]
UNICODE = "héllo 🙂 \u2028 عربى \x01 ﬁ"
SCRIPTS = {
    "talk": TALK,
    "denied": [
        {"tool_calls": [{"name": "Bash", "input": {"command": "rm -r x"}}], "usage": USAGE},
        {"text": "Refused.", "usage": USAGE},
    ],
    "empty": [],
    "structured": [
        {"tool_calls": [{"name": "StructuredOutput", "input": {"summary": ["one", "two"]}}], "usage": USAGE}
    ],
    "slow": [{"text": "late", "delay": 30}],
}

# verb, outcome, status, arguments
CASES: list[tuple[str, str, int, tuple[str, ...]]] = [
    ("list-sessions", "success", 0, ("--directory", "../store")),
    ("list-sessions", "empty", 0, ("--directory", "../nowhere")),
    ("list-sessions", "suspect", 0, ("--directory", "../doubt")),
    ("list-sessions", "not_found", 1, ("--project", "../gone")),
    ("list-sessions", "usage", 1, ("--nope",)),
    ("list-sessions", "corrupt", 0, ("--directory", "../broken")),
    ("list-sessions", "directory_is_a_file", 1, ("--directory", "a.txt")),
    ("delete-session", "success", 0, ("one", "--directory", "../store")),
    ("delete-session", "missing", 0, ("gone", "--directory", "../store")),
    ("delete-session", "usage", 1, ()),
    ("delete-session", "traversal", 1, ("../one", "--directory", "../store")),
    ("delete-session", "corrupt", 1, ("folder", "--directory", "../broken")),
    ("load-session", "success", 0, ("one", "--directory", "../store")),
    ("load-session", "not_found", 1, ("gone", "--directory", "../store")),
    ("load-session", "suspect", 0, ("unsure", "--directory", "../doubt")),
    ("load-session", "usage", 1, ("one", "two")),
    ("load-session", "traversal", 1, ("..", "--directory", "../store")),
    ("load-session", "corrupt", 1, ("garbage", "--directory", "../broken")),
    ("flush-transcript", "success", 0, ("remember this", "--session-id", "new", "--directory", "../store")),
    ("flush-transcript", "continued", 0, ("and this", "--session-id", "one", "--directory", "../store")),
    ("flush-transcript", "flush_only", 0, ("--session-id", "one", "--directory", "../store")),
    ("flush-transcript", "not_found", 1, ("--session-id", "gone", "--directory", "../store")),
    ("flush-transcript", "usage", 1, ("--directory", "../store")),
    ("flush-transcript", "empty_prompt", 1, ("  ", "--directory", "../store")),
    ("flush-transcript", "traversal", 1, ("x", "--session-id", "../x", "--directory", "../store")),
    ("flush-transcript", "unwritable", 1, ("x", "--session-id", "y", "--directory", "a.txt/store")),
    ("flush-transcript", "corrupt", 0, ("x", "--session-id", "torn", "--directory", "../broken")),
    ("flush-transcript", "closed_stdin", 1, ("-", "--directory", "../store")),
    ("flush-transcript", "unicode", 0, (UNICODE, "--session-id", "new", "--directory", "../store")),
    ("show-command", "success", 0, ("GREET",)),
    ("show-command", "skill", 0, ("review",)),
    ("show-command", "not_found", 1, ("greed",)),
    ("show-command", "usage", 1, ()),
    ("show-command", "corrupt", 0, ("greet", "--project", "../damaged")),
    ("show-command", "unicode", 1, (UNICODE,)),
    ("show-tool", "success", 0, ("bash",)),
    ("show-tool", "not_found", 1, ("Bashful",)),
    ("show-tool", "usage", 1, ("Bash", "Read")),
    ("show-tool", "unicode", 1, (UNICODE,)),
    ("exec-command", "success", 0, ("greet", "the world")),
    ("exec-command", "executed", 0, ("greet", "the world", *MODEL, "--directory", "../store")),
    ("exec-command", "not_found", 1, ("greed", "x")),
    ("exec-command", "usage", 1, ("greet",)),
    ("exec-command", "flag_without_effect", 1, ("greet", "x", "--directory", "../store")),
    ("exec-command", "untrusted", 1, ("shell", "x")),
    ("exec-command", "needs_session", 1, ("compact", "x")),
    ("exec-command", "corrupt", 0, ("greet", "x", "--project", "../damaged")),
    ("exec-command", "unwritable", 1, ("greet", "x", *MODEL, "--directory", "a.txt/store")),
    ("exec-command", "closed_stdin", 1, ("greet", "-")),
    ("exec-command", "unicode", 0, ("greet", UNICODE)),
    ("exec-tool", "success", 0, ("Read", '{"file_path": "a.txt"}')),
    ("exec-tool", "allowed", 0, ("Bash", '{"command": "printf 1"}', "--allow", "Bash(printf *)")),
    ("exec-tool", "not_found", 1, ("Reed", "{}")),
    ("exec-tool", "usage", 1, ("Read",)),
    ("exec-tool", "payload_not_json", 1, ("Read", "a.txt")),
    ("exec-tool", "payload_invalid", 1, ("Read", '{"file_path": 1, "limit": "x"}')),
    ("exec-tool", "denied", 1, ("Bash", '{"command": "rm -r x"}')),
    ("exec-tool", "no_terminal", 1, ("Bash", '{"command": "mkdir x"}')),
    ("exec-tool", "failed", 1, ("Read", '{"file_path": "none.txt"}')),
    ("exec-tool", "taken_away", 1, ("Bash", '{"command": "ls"}', "--deny-tool", "bash")),
    ("exec-tool", "corrupt", 0, ("Read", '{"file_path": "a.txt"}', "--project", "../damaged")),
    ("exec-tool", "unwritable", 1, ("Write", '{"file_path": "a.txt/x", "content": ""}', "--allow", "Write")),
    ("exec-tool", "closed_stdin", 1, ("Read", "-")),
    ("exec-tool", "unicode", 1, ("Read", UNICODE)),
    ("route", "success", 0, ("please review a.txt and greet", "--limit", "3")),
    ("route", "no_match", 0, ("zzz",)),
    ("route", "empty", 0, ("",)),
    ("route", "usage", 1, ("x", "--limit", "-1")),
    ("route", "not_found", 1, ("x", "--project", "../gone")),
    ("route", "corrupt", 0, ("greet", "--project", "../damaged")),
    ("route", "closed_stdin", 1, ("-",)),
    ("route", "unicode", 0, (UNICODE,)),
    ("bootstrap", "success", 0, ("/greet and read", *MODEL, "--directory", "../store")),
    ("bootstrap", "not_found", 1, ("x", "--project", "../gone")),
    ("bootstrap", "usage", 1, ("x", "--limit", "many")),
    ("bootstrap", "no_credentials", 1, ("x",)),
    ("bootstrap", "unwritable", 1, ("x", *MODEL, "--directory", "a.txt/store")),
    ("bootstrap", "corrupt", 0, ("x", *MODEL, "--project", "../damaged", "--directory", "../store")),
    ("bootstrap", "closed_stdin", 1, ("-", *MODEL)),
    ("bootstrap", "unicode", 0, (UNICODE, *MODEL, "--directory", "../store")),
    ("command-graph", "success", 0, ()),
    ("command-graph", "not_found", 1, ("--project", "../gone")),
    ("command-graph", "usage", 1, ("x",)),
    ("command-graph", "corrupt", 0, ("--project", "../damaged")),
    ("tool-pool", "success", 0, ()),
    ("tool-pool", "not_found", 1, ("--project", "../gone")),
    ("tool-pool", "usage", 1, ("--schema-version", "3.0")),
    ("tool-pool", "corrupt", 0, ("--project", "../damaged")),
    ("bootstrap-graph", "success", 0, ("--model", "scripted:../talk.jsonl")),
    ("bootstrap-graph", "blocked", 0, ()),
    ("bootstrap-graph", "not_found", 1, ("--project", "../gone")),
    ("bootstrap-graph", "usage", 1, ("--model",)),
    ("bootstrap-graph", "corrupt", 0, ("--project", "../damaged", *MODEL)),
    (
        "turn-loop",
        "success",
        0,
        (
            "read a.txt",
            *MODEL,
            "--continuation-prompt",
            "go on",
            "--max-turns",
            "2",
            "--directory",
            "../store",
        ),
    ),
    ("turn-loop", "denied", 0, ("x", "--model", "scripted:../denied.jsonl", "--directory", "../store")),
    (
        "turn-loop",
        "structured",
        0,
        ("x", "--model", "scripted:../structured.jsonl", "--structured-output", "--directory", "../store"),
    ),
    ("turn-loop", "resumed", 0, ("x", *MODEL, "--resume", "one", "--directory", "../store")),
    ("turn-loop", "no_turns", 0, ("x", "--max-turns", "0")),
    ("turn-loop", "no_time", 2, ("x", "--timeout-seconds", "0")),
    ("turn-loop", "budget", 0, ("x" * 99, *MODEL, "--max-budget-tokens", "9", "--directory", "../store")),
    ("turn-loop", "tool_rounds", 0, ("x", *MODEL, "--max-tool-rounds", "1", "--directory", "../store")),
    (
        "turn-loop",
        "timeout",
        2,
        (
            "x",
            "--model",
            "scripted:../slow.jsonl",
            "--turn-timeout-seconds",
            "0.3",
            "--directory",
            "../store",
        ),
    ),
    ("turn-loop", "model_failed", 1, ("x", "--model", "scripted:../empty.jsonl", "--directory", "../store")),
    ("turn-loop", "not_found", 1, ("x", *MODEL, "--resume", "gone", "--directory", "../store")),
    ("turn-loop", "corrupt", 1, ("x", *MODEL, "--resume", "garbage", "--directory", "../broken")),
    ("turn-loop", "usage", 1, ("x", "--permission-mode", "yolo")),
    ("turn-loop", "empty_prompt", 1, ("", *MODEL)),
    ("turn-loop", "exists", 1, ("x", *MODEL, "--session-id", "one", "--directory", "../store")),
    ("turn-loop", "unwritable", 1, ("x", *MODEL, "--directory", "a.txt/store")),
    ("turn-loop", "unknown_denial", 1, ("x", *MODEL, "--deny-tool", "Bish")),
    ("turn-loop", "closed_stdin", 1, ("-", *MODEL)),
    ("turn-loop", "unicode", 0, (UNICODE, *MODEL, "--directory", "../store")),
    ("summary", "success", 0, ("--directory", "../store")),
    ("summary", "not_found", 1, ("--project", "../gone")),
    ("summary", "usage", 1, ("x",)),
    ("summary", "corrupt", 0, ("--project", "../damaged", "--directory", "../broken")),
    ("manifest", "success", 0, ()),
    ("manifest", "usage", 1, ("x",)),
    ("parity-audit", "success", 0, ()),
    ("parity-audit", "usage", 1, ("--nope",)),
    ("setup-report", "success", 0, ()),
    ("setup-report", "not_found", 1, ("--project", "../gone")),
    ("setup-report", "usage", 1, ("--project",)),
    ("setup-report", "corrupt", 0, ("--project", "../damaged")),
    ("subsystems", "success", 0, ("--limit", "2")),
    ("subsystems", "usage", 1, ("--limit", "-1")),
    ("commands", "success", 0, ("--query", "greet")),
    ("commands", "filtered", 0, ("--no-skill-commands",)),
    ("commands", "not_found", 1, ("--project", "../gone")),
    ("commands", "usage", 1, ("--limit", "few")),
    ("commands", "corrupt", 0, ("--project", "../damaged")),
    ("tools", "success", 0, ("--query", "file", "--deny-prefix", "note", "--limit", "3")),
    ("tools", "simple", 0, ("--simple-mode",)),
    ("tools", "not_found", 1, ("--deny-tool", "Bish")),
    ("tools", "usage", 1, ("--query",)),
    ("tools", "corrupt", 0, ("--project", "../damaged", "--limit", "2")),
    *((mode, "success", 1, ("host",)) for mode in MODES),
    *((mode, "usage", 1, ()) for mode in MODES),
]
IDS = [f"{verb}-{outcome}" for verb, outcome, _, _ in CASES]


def command(body: str, **fields: str) -> str:
    head = "".join(f"{name}: {value}\n" for name, value in fields.items())
    return f"---\n{head}---\n{body}\n"


def build(base: Path) -> None:
    """A project, a damaged one, a store and a broken store, the same bytes each time."""
    for name in ("project", "damaged"):
        claude = base / name / ".claude"
        (claude / "commands").mkdir(parents=True)
        (claude / "skills/review").mkdir(parents=True)
        (base / name / ".git").mkdir()
        (claude / "commands/greet.md").write_text(command("Say hello to $ARGUMENTS.", description="Greets."))
        (claude / "commands/shell.md").write_text(command("!`echo hi`", description="Runs a shell line."))
        text = command("Look at the change.", name="review", description="Use to review a change.")
        (claude / "skills/review/SKILL.md").write_text(text)
        (claude / "settings.json").write_text('{"permissions": {"deny": ["Bash(rm *)"]}}')
        (base / name / "a.txt").write_text("alpha\n")
    (base / "damaged/.claude/settings.json").write_text("{")
    (base / "damaged/.claude/skills/review/SKILL.md").write_bytes(b"---\nname: [\xff\n")
    for name, turns in SCRIPTS.items():
        (base / f"{name}.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    from checkrein.runtime.store import SessionStore

    for name, session in (("store", "one"), ("broken", "torn")):
        with SessionStore(base / name).create(base / "project", session_id=session, kind="print") as writer:
            writer.user("hello")
            usage = {"input_tokens": 7, "output_tokens": 3}
            content = [{"type": "text", "text": "hi"}]
            writer.assistant({"id": "msg_1", "model": "m", "content": content, "usage": usage})
            path = writer.path
    with path.open("ab") as file:
        file.write(b'{"type": "user", "mess')
    (path.parent / "garbage.jsonl").write_bytes(b"\x00\xff not a session\n")
    (path.parent / "folder.jsonl").mkdir()


def build_doubt(base: Path) -> None:
    """A store with a session that speaks of being suspect, and one that is."""
    from checkrein.runtime.store import SessionStore

    for name in ("sure", "unsure"):
        with SessionStore(base / "doubt").create(base / "project", session_id=name, kind="print") as writer:
            writer.user('What does {"suspect": 1} mean?')
            if name == "unsure":
                writer.state(suspect={"reason": "the time limit passed", "open_calls": ["Bash"]})


class Bench:
    """Runs commands in the project, from the same state and the same bytes each time."""

    def __init__(self, base: Path, monkeypatch: pytest.MonkeyPatch, capture: Any) -> None:
        self.base = base
        self._monkeypatch = monkeypatch
        self._capture = capture

    def fresh(self) -> None:
        os.chdir("/")
        shutil.rmtree(self.base, ignore_errors=True)
        self.base.mkdir()
        shutil.rmtree(os.environ["CHECKREIN_HOME"], ignore_errors=True)
        for make in (build_doubt, build):
            self._monkeypatch.setattr(ids, "_counter", itertools.count(1))
            make(self.base)
        os.chdir(self.base / "project")

    def call(self, *argv: str) -> tuple[int, bytes, bytes]:
        self._capture.readouterr()
        status = run(["machine", *argv])
        said = self._capture.readouterr()
        return status, said.out, said.err

    def json(self, verb: str, argv: tuple[str, ...]) -> tuple[int, dict[str, Any]]:
        answer = self.call(verb, "--output-format", "json", *argv)
        return answer[0], one_document(answer, answer[0])


@pytest.fixture
def bench(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Iterator[Bench]:
    monkeypatch.setenv("CHECKREIN_CLOCK", "2026-01-02T03:04:05Z")
    monkeypatch.setenv("CHECKREIN_ID_SEED", "golden")
    monkeypatch.delenv("CHECKREIN_SCHEMA_VERSION", raising=False)
    here = os.getcwd()
    made = Bench(tmp_path / "base", monkeypatch, capsysbinary)
    made.fresh()
    yield made
    os.chdir(here)


def neutral(value: Any, base: Path) -> Any:
    """Without what differs between machines."""
    if isinstance(value, dict):
        return {key: neutral(item, base) for key, item in value.items()}
    if isinstance(value, list):
        return [neutral(item, base) for item in value]
    if not isinstance(value, str):
        return value
    from checkrein.runtime.store.layout import safe_name

    for found, word in (
        (str(base), "‹base›"),
        (safe_name(str(base)), "‹base-name›"),
        (str(Path(checkrein.__file__).parent), "‹checkrein›"),
        (platform.platform(), "‹platform›"),
        (platform.python_version(), "‹python›"),
        (os.environ["CHECKREIN_HOME"], "‹home›"),
    ):
        value = value.replace(found, word)
    return value


_SAID = "‹depends on the machine›"
DEPENDING: dict[str, tuple[str, ...]] = {
    "manifest": ("version",),
    "setup-report": (
        "setup.implementation",
        "diagnosis.sandbox",
        "diagnosis.lines.*.found",
        "diagnosis.lines.*.state",
    ),
    "subsystems": ("total", "subsystems.*.modules"),
}
"""Fields of a payload whose values no two machines, or no two releases, share."""
DEPENDING_LINES: dict[str, str] = {
    "setup-report": r"(?m)(?<=^- )((?:Python|bash|ripgrep|git|model|rules: \w+|sandbox):).*$",
    "subsystems": r"(?m)^(\w+\t)\d+",
    "manifest": r"(?m)^(Checkrein) [^;]+",
}


def settle(found: dict[str, Any], verb: str) -> dict[str, Any]:
    """`found` with a word in the place of what DEPENDING lists; the field itself must be there."""
    import re

    if verb in DEPENDING:
        for path in DEPENDING[verb]:
            for holder in (found["2.0"].get("data"), found["1.0"]):
                if holder and "error" not in holder:
                    _put_word(holder, path.split("."))
        pattern = DEPENDING_LINES[verb]
        found["text"] = [re.sub(pattern, rf"\1 {_SAID}", said) for said in found["text"]]
    return found


def _put_word(holder: Any, path: list[str]) -> None:
    head, *rest = path
    keys = range(len(holder)) if head == "*" else [head]
    for key in keys:
        if rest:
            _put_word(holder[key], rest)
        else:
            assert holder[key] not in (None, "")
            holder[key] = _SAID


def covers(live: Any, golden: Any, where: str = "") -> None:
    """Everything in the golden document is in the live one; the live one may have more fields."""
    if isinstance(golden, dict):
        assert isinstance(live, dict), where
        for key, value in golden.items():
            assert key in live, f"{where}.{key} is gone"
            covers(live[key], value, f"{where}.{key}")
    elif isinstance(golden, list):
        assert isinstance(live, list), where
        assert len(live) == len(golden), where
        for index, value in enumerate(golden):
            covers(live[index], value, f"{where}[{index}]")
    else:
        assert live == golden, where


@pytest.mark.parametrize(("verb", "outcome", "status", "argv"), CASES, ids=IDS)
def test_outcome(
    bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
    outcome: str,
    status: int,
    argv: tuple[str, ...],
) -> None:
    new = bench.call(verb, "--json", *argv)
    bench.fresh()
    monkeypatch.setattr("sys.stdin", None)
    assert bench.call(verb, "--json", *argv) == new, "same input, same bytes; with or without standard input"
    document = one_document(new, status)
    fits_the_schema(verb, document)
    bench.fresh()
    old = one_document(bench.call(verb, "--json", "--schema-version", "1.0", *argv), status)
    is_the_old_form(verb, document, old)
    bench.fresh()
    text_status, out, err = bench.call(verb, *argv)
    assert text_status == status
    assert status or not err
    found = neutral({"2.0": document, "1.0": old, "text": [out.decode(), err.decode()]}, bench.base)
    found = settle(found, verb)
    file = GOLDEN / f"{verb}.{outcome}.json"
    if os.environ.get("CHECKREIN_UPDATE_GOLDEN"):
        file.write_text(json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")
    covers(found, json.loads(file.read_text("utf-8")))


def one_document(answer: tuple[int, bytes, bytes], status: int) -> dict[str, Any]:
    assert answer[0] == status
    assert answer[2] == b"", "standard error stays silent"
    assert answer[1].endswith(b"\n")
    assert answer[1].count(b"\n") == 1
    document: dict[str, Any] = json.loads(answer[1])
    assert document["exit_code"] == status
    assert list(document)[:5] == COMMON_FIELDS
    return document


def fits_the_schema(verb: str, document: dict[str, Any]) -> None:
    jsonschema.validate(document, make_schema("envelope"))
    assert document["command"] == verb
    assert ("data" in document) is not ("error" in document)
    if "data" in document:
        jsonschema.validate(document["data"], make_schema(f"command/machine/{verb}"))
        assert not set(document["data"]) & {*COMMON_FIELDS, "kind", "error", "warnings"}
        return
    error = document["error"]
    assert error["kind"] in {*registry.command(f"machine {verb}").errors, *COMMON}
    assert error["class"] == KINDS[error["kind"]].error_class
    assert error["action"] == KINDS[error["kind"]].action
    for name in ("message", "hint", "operation", "target"):
        assert error[name] is not None


def is_the_old_form(verb: str, document: dict[str, Any], old: dict[str, Any]) -> None:
    assert old["schema_version"] == "1.0"
    assert "data" not in old
    if "data" in document:
        assert old["kind"] == verb
        assert set(document["data"]) <= set(old)
        return
    kind = document["error"]["kind"]
    assert old["error"]["kind"] == old["kind"] == ("parse" if kind in PARSE else kind)
    assert set(document["error"]["details"]) <= set(old)


def grown(value: Any) -> Any:
    """The same document as a later version may print it: one field more in every object."""
    if isinstance(value, dict):
        return {**{key: grown(item) for key, item in value.items()}, "added_later": {"x": 1}}
    return [grown(item) for item in value] if isinstance(value, list) else value


def client() -> Any:
    spec = importlib.util.spec_from_file_location("machine_client", ROOT / "examples" / "machine_client.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.json")), ids=lambda file: file.stem)
def test_a_new_field_breaks_no_golden_client(file: Path) -> None:
    golden = json.loads(file.read_text("utf-8"))["2.0"]
    later = grown(golden)
    covers(later, golden)
    reader = client()

    def read(document: dict[str, Any]) -> Any:
        try:
            return reader.read(json.dumps(document), golden["exit_code"])
        except reader.MachineError as error:
            return {"failed": error.args[0]["kind"], "retryable": error.args[0]["retryable"]}

    covers(read(later), read(golden))


def test_every_verb_and_outcome_has_its_case() -> None:
    covered: dict[str, set[str]] = {}
    for verb, outcome, _, _ in CASES:
        covered.setdefault(verb, set()).add(outcome)
    for verb in MACHINE:
        assert {"success", "usage"} <= covered[verb], verb
    assert set(covered) == {*MACHINE, *OPT_OUT}
    assert {file.stem for file in GOLDEN.glob("*.json")} == {f"{v}.{o}" for v, o, _, _ in CASES}


def test_sibling_verbs_share_their_fields(bench: Bench) -> None:
    _, tool = bench.json("show-tool", ("Bash",))
    _, shown = bench.json("show-command", ("greet",))
    assert set(tool["data"]) == set(shown["data"])


def test_every_listed_session_can_be_loaded(bench: Bench) -> None:
    for store in ("../store", "../broken"):
        _, listed = bench.json("list-sessions", ("--directory", store, "--all"))
        assert listed["data"]["sessions"]
        for row in listed["data"]["sessions"]:
            assert bench.json("load-session", (row["session_id"], "--directory", store))[0] == 0


def test_a_project_is_the_same_through_a_link(bench: Bench) -> None:
    (bench.base / "link").symlink_to(bench.base / "project")
    for project in ("../link", ".", str(bench.base / "project" / ".." / "link")):
        _, listed = bench.json("list-sessions", ("--directory", "../store", "--project", project))
        assert [row["session_id"] for row in listed["data"]["sessions"]] == ["one"]
    (bench.base / "other").mkdir()
    _, listed = bench.json("list-sessions", ("--directory", "../store", "--project", "../other"))
    assert listed["data"]["sessions"] == []


TEXT_VERBS: list[tuple[str, Callable[[str], tuple[str, ...]]]] = [
    ("delete-session", lambda text: (text,)),
    ("load-session", lambda text: (text,)),
    ("flush-transcript", lambda text: (text, "--directory", "../store")),
    ("show-command", lambda text: (text,)),
    ("show-tool", lambda text: (text,)),
    ("exec-command", lambda text: ("greet", text)),
    ("exec-tool", lambda text: ("TodoWrite", text)),
    ("route", lambda text: (text,)),
    ("bootstrap", lambda text: (text, *MODEL, "--directory", "../store")),
    ("turn-loop", lambda text: (text, *MODEL, "--directory", "../store")),
]
TEXTS = {"megabyte": "word " * 200_000, "unicode": UNICODE, "quotes": "\"'\\n`$(x)"}


@pytest.mark.parametrize("text", TEXTS, ids=list(TEXTS))
@pytest.mark.parametrize(("verb", "argv"), TEXT_VERBS, ids=[verb for verb, _ in TEXT_VERBS])
def test_any_text(bench: Bench, verb: str, argv: Callable[[str], tuple[str, ...]], text: str) -> None:
    status, document = bench.json(verb, argv(TEXTS[text]))
    if status == 0:
        kept = document["data"].get("prompt", TEXTS[text])
        assert kept == TEXTS[text]
    else:
        assert document["error"]["class"] in ("usage", "not_found")


@pytest.mark.parametrize("verb", [*MACHINE, *OPT_OUT])
def test_bytes_that_are_no_text_are_refused(bench: Bench, verb: str) -> None:
    _, document = bench.json(verb, ("\udcff",))
    assert document["error"]["kind"] == "argument_not_utf8"


def test_a_prompt_from_standard_input_that_is_closed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    for verb, argv in (("route", ("-",)), ("exec-tool", ("Read", "-")), ("turn-loop", ("-",))):
        _, document = bench.json(verb, argv)
        assert document["error"]["kind"] == "stdin_closed"


@pytest.mark.parametrize("verb", [*MACHINE, *OPT_OUT])
def test_help_is_a_document(bench: Bench, verb: str) -> None:
    status, document = bench.json(verb, ("--help",))
    assert status == 0
    assert document["data"]["arguments"][-1]["name"] == "schema_version"
    assert document["data"]["payload"]["title"] == f"checkrein machine {verb}"
