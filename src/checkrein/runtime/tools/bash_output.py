"""The model's view of a command's output: limits, the file for the rest, harmless exit codes."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from checkrein.llm.port import Base64, Image
from checkrein.runtime.process.command import Completed, Running
from checkrein.runtime.tools.port import ToolContext, ToolFailure, ToolOutput

SUCCESS_LIMIT = 30_000
LARGEST_LIMIT = 150_000
FAILURE_LIMIT = 10_000
PREVIEW = 2_000
_NOTHING = "(Bash completed with no output)"
_IMAGE = re.compile(r"data:(image/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/=\s]+)")
_HARMLESS_ONE = {
    "grep": "No matches found",
    "egrep": "No matches found",
    "fgrep": "No matches found",
    "rg": "No matches found",
    "git grep": "No matches found",
    "find": "Some directories could not be read",
    "diff": "Files differ",
    "git diff": "Files differ",
    "test": "The condition is false",
    "[": "The condition is false",
}
_SILENT = frozenset(
    ("mv", "cp", "rm", "mkdir", "rmdir", "chmod", "chown", "chgrp", "touch", "ln", "cd", "wait")
)
_VIEWERS = frozenset(("cat", "nl", "bat", "batcat", "head", "tail", "sed", "grep", "egrep", "fgrep", "rg"))
_CONFINED = re.compile(
    rb"Permission denied|Operation not permitted|Read-only file system|Network is unreachable"
    rb"|Could not resolve|name resolution|No such device"
)


def shape(
    command: str, done: Completed, context: ToolContext, limit: int, note: str, timeout_ms: int
) -> ToolOutput:
    """The result of a command that ended. Raises ToolFailure when it failed."""
    if not done.started:
        raise ToolFailure(text_of(done.stderr))
    _view_of(command, done, context)
    tail = ""
    if _is_binary(done.stdout):
        text = _binary(done, context)
    else:
        text, tail = _texts(command, done, context)
    meaning = _meaning(command, done.exit_code)
    failed = done.cancelled or done.timed_out or (done.exit_code != 0 and meaning is None)
    too_long = done.truncated or len(text) > (FAILURE_LIMIT if failed else limit)
    saved = _save(done, context) if too_long else None
    if failed:
        return _failed(done, context, excerpt(text, FAILURE_LIMIT, saved, tail), note, timeout_ms)
    result = structured(text[:limit], note) | {"noOutputExpected": _first_word(command) in _SILENT}
    if meaning:
        result["returnCodeInterpretation"] = meaning
    if picture := None if too_long else _IMAGE.fullmatch(text):
        image = Image(Base64(picture[1], re.sub(r"\s", "", picture[2])))
        return ToolOutput(content=(image,), structured=result | {"isImage": True})
    if saved:
        result |= {"persistedOutputPath": saved, "persistedOutputSize": done.size}
        text = (
            f"The output is too long ({done.size} bytes). It is in {saved}\nIt begins with:\n{text[:PREVIEW]}"
        )
    lines = [line for line in (text or meaning or _NOTHING, note) if line]
    return ToolOutput(content="\n".join(lines), structured=result)


def stopped(done: Completed | Running, root: str) -> Iterator[str]:
    """What the model learns of programs that did not start, of what they could not do, and of protected files
    that were restored."""
    import shlex

    for one in dict.fromkeys(done.refused):
        where = f" ({one.origin.beside(root)})" if one.origin is not None else ""
        if one.effect != "exec":
            yield f"Refused: {one.reason}{where}."
            continue
        line = shown(shlex.join(one.argv) or one.program)
        what = "was ended at its start" if one.ended else "was refused when it started"
        yield f"`{line}` {what}: {one.reason}{where}." if line else f"Ended: {one.reason}{where}."
    for program in dict.fromkeys(done.powerless):
        yield (
            f"{program} has no special rights here: the guard takes them away. If the user wants it to run"
            " unguarded, they can name it in `guard.except` of their configuration."
        )
    yield from map(str, done.restored)


def shown(line: str) -> str:
    return line if len(line) <= 200 else line[:199] + "…"


def _texts(command: str, done: Completed, context: ToolContext) -> tuple[str, str]:
    """The output and its tail, without secrets."""
    whole = done.size <= len(done.stdout) + len(done.tail)
    text, tail = text_of(done.stdout + done.tail if whole else done.stdout), text_of(done.tail)
    path = None
    if _first_word(command) in _VIEWERS:
        from checkrein.runtime.tools.bash_views import viewed_path

        path = viewed_path(command, text, context)
    line = 1 if path is not None and _first_word(command) == "cat" else None
    return context.cover.text(text, path, line), "" if whole else context.cover.text(tail, path)


def structured(stdout: str, stderr: str = "", *, background: str | None = None) -> dict[str, Any]:
    result: dict[str, Any] = {
        "stdout": stdout,
        "stderr": stderr,
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
    }
    if background:
        result["backgroundTaskId"] = background
    return result


def excerpt(text: str, limit: int, path: str | None, tail: str = "") -> str:
    """A text up to `limit`; of a longer one the head and the tail."""
    if len(text) <= limit and not tail:
        return text
    end = (text + tail if tail else text)[-limit // 2 :]
    where = f"; all of it is in {path}" if path else ""
    return f"{text[: limit // 2]}\n... [output left out here{where}] ...\n{end}"


def inline_limit(env: Mapping[str, str]) -> int:
    return min(number(env.get("BASH_MAX_OUTPUT_LENGTH")) or SUCCESS_LIMIT, LARGEST_LIMIT)


def number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and int(text) > 0 else None


def seconds(milliseconds: int) -> str:
    minutes, rest = divmod(milliseconds / 1000, 60)
    return f"{int(minutes)} min {rest:g} s" if minutes else f"{rest:g} s"


def text_of(data: bytes) -> str:
    """Output as text, without the last newlines. Replaces NUL and bytes that are not UTF-8."""
    return data.decode("utf-8", "replace").replace("\0", "\ufffd").rstrip("\r\n")


def _is_binary(data: bytes) -> bool:
    """True for output that nobody can read: NULs, and much that is not UTF-8."""
    start = data[:8192]
    if b"\0" not in start:
        return False
    strange = start.decode("utf-8", "replace").count("\ufffd") + start.count(b"\0")
    return strange * 10 > len(start)


def _view_of(command: str, done: Completed, context: ToolContext) -> None:
    """Count `cat file` and similar commands as a Read of the file."""
    if done.exit_code != 0 or done.truncated or _first_word(command) not in _VIEWERS:
        return
    from checkrein.runtime.tools.bash_views import note

    note(command, context)


def _failed(done: Completed, context: ToolContext, text: str, note: str, timeout_ms: int) -> ToolOutput:
    head = f"Exit code {done.exit_code}"
    if done.cancelled:
        head = "The command was interrupted and has stopped."
    elif done.timed_out:
        head += f"\nThe command was stopped because it took longer than {seconds(timeout_ms)}."
    if context.sandbox is not None and _CONFINED.search(done.stdout + done.tail):
        reach = "the network is" if context.sandbox.network else "the network is not"
        note = f"{note}\n" if note else ""
        note += f"(It ran in the sandbox: {reach} reachable, files are writable only in {_places(context)}.)"
    message = "\n".join(part for part in (head, text, note) if part)
    if done.cancelled:
        result = structured(text, note) | {"interrupted": True}
        return ToolOutput(content=message, structured=result, is_error=True)
    raise ToolFailure(message)


def _places(context: ToolContext) -> str:
    assert context.sandbox is not None
    return ", ".join(context.sandbox.write or ("/",))


def _save(done: Completed, context: ToolContext) -> str:
    if done.spill:
        return done.spill
    from checkrein.base.ids import new_uuid

    path = os.path.join(context.results_dir, f"{new_uuid()}.output")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(filtered(context, done.stdout))
    return path


def filtered(context: ToolContext, data: bytes) -> bytes:
    """Output for a file of the session: without secrets."""
    from checkrein.runtime.secrets.flow import Flow

    flow = Flow(context.cover)
    return flow.take(data) + flow.rest()


def _binary(done: Completed, context: ToolContext) -> str:
    return f"[binary output, {done.size} bytes, saved in {_save(done, context)}]"


def _meaning(command: str, exit_code: int) -> str | None:
    """Why an exit status of 1 is an answer and not a failure."""
    if exit_code != 1:
        return None
    words = _last_command(command)
    if not words:
        return None
    name = os.path.basename(words[0])
    return _HARMLESS_ONE.get(" ".join([name, *words[1:2]])) or _HARMLESS_ONE.get(name)


def _last_command(command: str) -> list[str]:
    """The words of the command that gave the exit status, found by a quick look at the text."""
    import shlex

    lines = [line for line in command.splitlines() if line.strip()]
    words: list[str] = []
    with contextlib.suppress(ValueError):
        for word in shlex.shlex(lines[-1] if lines else "", posix=True, punctuation_chars=True):
            if word and not word.strip("();<>|&"):
                words = words if word.strip("<>") == "" else []
            else:
                words.append(word)
    return [word for index, word in enumerate(words) if index or not re.fullmatch(r"\w+=.*", word)]


def _first_word(command: str) -> str:
    return command.split(maxsplit=1)[0] if command.split() else ""
