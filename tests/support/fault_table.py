"""Every way in which an endpoint breaks here, and what a run makes of it: one table for the campaign and for
docs/faults.md.

A run has `--max-seconds 3`. `ends` is its terminal reason: `completed` (the answer came in spite of the
fault), `api_error` (the run failed and says why), `budget_exhausted` (it still tried or waited when its time
was over). `text` is in what the run says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from support.fault_endpoint import CHUNKED, WIRES, Play, Talk, Wire

SECONDS = 3.0
LONG = ("--max-seconds", "60")
MEMORY = 200
"""Megabytes that a run may use at its peak."""


class Fault(Struct, frozen=True):
    name: str
    does: str
    play: Play
    ends: str = "budget_exhausted"
    text: str = ""
    words: tuple[str, ...] = ()
    wires: tuple[Wire, ...] = WIRES

    @property
    def status(self) -> int:
        return 0 if self.ends == "completed" else 1


FAULTS: dict[str, Fault] = {}


def fault(does: str, ends: str = "budget_exhausted", text: str = "", **more: Any) -> Callable[[Play], Play]:
    """Enter a fault into the table, under the name of its function."""

    def enter(play: Play) -> Play:
        name = play.__name__.strip("_").replace("_", " ")
        FAULTS[name] = Fault(name, does, play, ends, text, **more)
        return play

    return enter


def _once(broken: Play) -> Play:
    def play(talk: Talk) -> None:
        if talk.number == 1:
            broken(talk)
        else:
            talk.reply()

    return play


def _unread(play: Play) -> Play:
    play.before_request = True  # type: ignore[attr-defined]
    return play


# -- before an answer --


@fault("closes the connection without an answer")
def closes_at_once(talk: Talk) -> None:
    pass


@fault("resets the connection without an answer")
def resets_at_once(talk: Talk) -> None:
    talk.reset()


@fault("accepts the connection and reads nothing")
@_unread
def never_reads(talk: Talk) -> None:
    import time

    time.sleep(8)


@fault("reads the request and sends nothing")
def never_answers(talk: Talk) -> None:
    talk.sleep()


@fault("sends a status line one byte at a time")
def drips_a_status_line(talk: Talk) -> None:
    for byte in b"HTTP/1.1 200 OK, and a long reason that does not come to its end":
        talk.send(bytes([byte]))
        talk.sleep(0.2)


@fault("sends `100 Continue` without end")
def continues_forever(talk: Talk) -> None:
    talk.forever(b"HTTP/1.1 100 Continue\r\n\r\n", 0.001)


@fault("sends something that is not HTTP")
def not_http(talk: Talk) -> None:
    talk.send(b"220 mail.example.com ESMTP\r\n")


@fault("sends a TLS alert")
def speaks_tls(talk: Talk) -> None:
    talk.send(b"\x15\x03\x01\x00\x02\x02\x28")


@fault("sends a status line and then nothing")
def only_a_status_line(talk: Talk) -> None:
    talk.send(b"HTTP/1.1 200 OK\r\n")
    talk.sleep()


@fault("sends headers without end")
def endless_headers(talk: Talk) -> None:
    talk.send(b"HTTP/1.1 200 OK\r\n")
    talk.forever(b"x-more: and more\r\n")


@fault("sends a header line of a megabyte")
def a_long_header(talk: Talk) -> None:
    talk.send(b"HTTP/1.1 200 OK\r\nx-long: " + b"x" * (1 << 20) + b"\r\n\r\n")


@fault("closes the connection inside the headers")
def closes_in_headers(talk: Talk) -> None:
    talk.send(b"HTTP/1.1 200 OK\r\ncontent-type: text/ev")


# -- another answer than a stream --


@fault("answers without a content type")
def no_content_type(talk: Talk) -> None:
    talk.head(200, {"content-length": "2"})
    talk.send(b"{}")


@fault("answers with a page for people")
def a_web_page(talk: Talk) -> None:
    talk.head(200, {"content-type": "text/html", "content-length": "13"})
    talk.send(b"<html></html>")


@fault("answers `204 No Content`", "api_error")
def no_content(talk: Talk) -> None:
    talk.head(204, {"content-length": "0"})


@fault("sends the client elsewhere", "api_error", "301")
def redirects(talk: Talk) -> None:
    talk.refuse(301, b"", location="http://127.0.0.1:9/")


for _status, _ends, _said in (
    (400, "api_error", "400"),
    (401, "api_error", "401"),
    (402, "api_error", "402"),
    (403, "api_error", "403"),
    (404, "api_error", "404"),
    (405, "api_error", "405"),
    (408, "budget_exhausted", ""),
    (409, "budget_exhausted", ""),
    (418, "api_error", "418"),
    (422, "api_error", "422"),
    (429, "budget_exhausted", ""),
    (500, "budget_exhausted", ""),
    (502, "budget_exhausted", ""),
    (503, "budget_exhausted", ""),
    (504, "budget_exhausted", ""),
    (529, "budget_exhausted", ""),
    (999, "budget_exhausted", ""),
):

    def _play(talk: Talk, status: int = _status) -> None:
        talk.refuse(status)

    _play.__name__ = f"status_{_status}"
    fault(f"answers {_status} every time", _ends, _said)(_play)


@fault("answers 413, also after a compaction", "prompt_too_long")
def status_413(talk: Talk) -> None:
    talk.refuse(413)


@fault("answers 429 and asks for an hour")
def waits_an_hour(talk: Talk) -> None:
    talk.refuse(429, retry_after="3600")


@fault("answers 429 with a date that has passed, and then answers", "completed", "fine")
@_once
def waits_until_the_past(talk: Talk) -> None:
    talk.refuse(429, retry_after="Wed, 21 Oct 2015 07:28:00 GMT")


@fault("answers 429 with a wait that is not a number, and then answers", "completed", "fine")
@_once
def waits_for_nonsense(talk: Talk) -> None:
    talk.refuse(429, retry_after="soon, or \udcff".encode("utf-8", "replace").decode())


@fault("answers 429 and asks for minus five seconds, and then answers", "completed", "fine")
@_once
def waits_backwards(talk: Talk) -> None:
    talk.refuse(429, retry_after="-5")


@fault("answers 429 and asks for `nan` seconds, and then answers", "completed", "fine")
@_once
def waits_nan(talk: Talk) -> None:
    talk.refuse(429, retry_after="nan")


@fault("answers 429 and asks for `inf` seconds")
def waits_infinitely(talk: Talk) -> None:
    talk.refuse(429, retry_after="inf")


@fault("sends a refusal whose body does not end")
def endless_refusal(talk: Talk) -> None:
    talk.head(400, {"content-type": "application/json"})
    talk.forever(b" ", 0.05)


@fault("sends a refusal of many gigabytes", "api_error", "400")
def huge_refusal(talk: Talk) -> None:
    talk.head(400, {"content-type": "application/json", "content-length": str(1 << 40)})
    talk.forever(b"x" * 65536)


@fault("sends a refusal nested 100,000 deep", "api_error", "400")
def deep_refusal(talk: Talk) -> None:
    talk.refuse(400, b"[" * 100_000 + b"]" * 100_000)


@fault("sends a refusal that is not UTF-8", "api_error", "400")
def garbled_refusal(talk: Talk) -> None:
    talk.refuse(400, b'{"error": {"message": "\xff\xfe \\ud800"}}')


@fault("overloaded twice, and then answers", "completed", "fine")
def overloaded_twice(talk: Talk) -> None:
    if talk.number <= 2:
        talk.refuse(529)
    else:
        talk.reply()


@fault("closes the connection once, and then answers", "completed", "fine")
@_once
def closes_once(talk: Talk) -> None:
    pass


# -- inside a stream --


@fault("opens a stream and closes it")
def empty_stream(talk: Talk) -> None:
    talk.head()


@fault("closes the stream after its first event")
def closes_after_the_first_event(talk: Talk) -> None:
    talk.stream(talk.frames()[:1])


@fault("closes the stream in the middle of a text")
def closes_in_a_text(talk: Talk) -> None:
    talk.stream([*talk.opened(), talk.text("half a sen")])


@fault("closes the stream in the middle of a text, and then answers", "completed", "fine")
@_once
def closes_in_a_text_once(talk: Talk) -> None:
    talk.stream([*talk.opened(), talk.text("half a sen")])


@fault("resets the stream in the middle of a text")
def resets_in_a_text(talk: Talk) -> None:
    talk.stream([*talk.opened(), talk.text("half")])
    talk.sleep(0.05)
    talk.reset()


@fault("sends the first event and then nothing")
def silent_after_the_first_event(talk: Talk) -> None:
    talk.stream(talk.frames()[:1])
    talk.sleep()


@fault("stops in the middle of a text; the result has the text so far", text="so far")
def silent_in_a_text(talk: Talk) -> None:
    talk.stream([*talk.opened(), talk.text("so far")])
    talk.sleep()


@fault("stops in the middle of an event")
def silent_in_an_event(talk: Talk) -> None:
    talk.stream([*talk.opened(), talk.text("x")[:20]])
    talk.sleep()


@fault("keeps the connection open with comments")
def comments_forever(talk: Talk) -> None:
    talk.head()
    talk.forever(b": still here\n\n", 0.1)


@fault("sends comments as fast as it can", "api_error", "32 MB", words=LONG)
def comments_without_pause(talk: Talk) -> None:
    talk.head()
    talk.forever(b": still here\n\n" * 5000)


@fault("sends a whole reply one byte at a time", "completed", "fine")
def drips_a_reply(talk: Talk) -> None:
    talk.head()
    for byte in b"".join(talk.frames()):
        talk.send(bytes([byte]))


@fault("sends a text slowly, without end; the result has the text so far", text="word word")
def a_slow_text(talk: Talk) -> None:
    talk.stream(talk.opened())
    talk.forever(talk.text("word "), 0.1)


@fault("sends an event that is not JSON")
def not_json(talk: Talk) -> None:
    talk.stream([*talk.opened(), b"data: {not json\n\n"])


@fault("sends an event that is a list")
def a_list(talk: Talk) -> None:
    talk.stream([*talk.opened(), b"data: [1, 2]\n\n"])


@fault("sends an event whose fields have other types")
def other_types(talk: Talk) -> None:
    talk.stream([*talk.opened(), b'data: {"type": 7, "choices": 7, "delta": [], "output_index": {}}\n\n'] * 2)


@fault("sends an event nested 100,000 deep")
def deep_event(talk: Talk) -> None:
    talk.stream([*talk.opened(), b'data: {"type":"x","a":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n\n"])


@fault("sends an event nested 500 deep that nobody needs, and then answers", "completed", "fine")
def nested_event(talk: Talk) -> None:
    extra = b'data: {"type":"x","id":"c","a":' + b"[" * 500 + b"]" * 500 + b"}\n\n"
    talk.stream([*talk.opened(), extra, talk.text("fine"), *talk.ended()])


@fault(
    "sends half of a surrogate pair; U+FFFD stands for it", "completed", "lone \N{REPLACEMENT CHARACTER} half"
)
def a_lone_surrogate(talk: Talk) -> None:
    talk.stream([*talk.opened(), talk.text("lone \\ud83d half"), *talk.ended()])


@fault("sends the halves of a surrogate pair in two events", "completed", "a \N{GRINNING FACE} face")
def a_split_surrogate(talk: Talk) -> None:
    talk.stream([*talk.opened(), talk.text("a \\ud83d"), talk.text("\\ude00 face"), *talk.ended()])


@fault("sends bytes that are not UTF-8; U+FFFD stands for them", "completed", "b\N{REPLACEMENT CHARACTER}d")
def not_utf8(talk: Talk) -> None:
    talk.stream([*talk.opened(), talk.text("bXd").replace(b"bXd", b"b\xffd"), *talk.ended()])


@fault("sends NUL and escape characters", "completed", "\x00")
def control_characters(talk: Talk) -> None:
    talk.stream([*talk.opened(), talk.text("\\u0000\\u001b[2J"), *talk.ended()])


def _with_usage(talk: Talk, usage: bytes) -> None:
    import re

    whole = b"".join(talk.frames())
    talk.stream([re.sub(rb'"usage":\{(?:[^{}]|\{[^{}]*\})*\}', b'"usage":' + usage, whole)])


@fault("counts tokens in words", "completed", "fine")
def usage_as_text(talk: Talk) -> None:
    names = ("input_tokens", "output_tokens", "prompt_tokens", "completion_tokens")
    _with_usage(
        talk,
        ("{" + ",".join(f'"{name}":"{9 if name[0] == "i" else "many"}"' for name in names) + "}").encode(),
    )


@fault("sends usage as a list", "completed", "fine")
def usage_as_a_list(talk: Talk) -> None:
    _with_usage(talk, b'[1,"two",null]')


@fault("sends usage with objects, booleans and fractions", "completed", "fine")
def usage_as_anything(talk: Talk) -> None:
    _with_usage(
        talk,
        b'{"input_tokens":{"a":1},"output_tokens":true,"prompt_tokens":1.5,"completion_tokens":[],'
        b'"cache_creation":7,"prompt_tokens_details":"x","input_tokens_details":[1]}',
    )


@fault("sends usage below zero and beyond all bounds", "completed", "fine")
def usage_out_of_bounds(talk: Talk) -> None:
    huge = b"9" * 300
    _with_usage(
        talk,
        b'{"input_tokens":-5,"output_tokens":%b,"prompt_tokens":%b,"completion_tokens":-1}' % (huge, huge),
    )


@fault("sends an id and a model that are not text", "completed", "fine")
def ids_of_other_types(talk: Talk) -> None:
    import re

    whole = b"".join(talk.frames())
    talk.stream(
        [
            re.sub(
                rb'"model":"[^"]*"',
                b'"model":{"a":1}',
                re.sub(rb'"id":"(msg|chatcmpl|resp)[^"]*"', b'"id":7', whole),
            )
        ]
    )


@fault("sends an event of 5 MB")
def a_large_event(talk: Talk) -> None:
    talk.stream([*talk.opened(), talk.text("x" * (5 << 20))])


@fault("sends one event without end")
def an_endless_event(talk: Talk) -> None:
    talk.stream([*talk.opened(), b"data: "])
    talk.forever(b"x" * 65536)


@fault("sends an event of 4 MB that is all small objects", "completed", "fine", words=LONG)
def many_objects(talk: Talk) -> None:
    extra = b'data: {"type":"x","id":"c","a":[' + b"{}," * 1_390_000 + b"{}]}\n\n"
    talk.stream([*talk.opened(), extra, talk.text("fine"), *talk.ended()])


@fault("sends a text without end", "api_error", "32 MB", words=LONG)
def an_endless_text(talk: Talk) -> None:
    talk.stream(talk.opened())
    talk.forever(talk.text("word " * 200) * 50)


@fault("sends a text without end in single letters", "api_error", "32 MB", words=LONG)
def endless_letters(talk: Talk) -> None:
    talk.stream(talk.opened())
    talk.forever(talk.text("ab") * 500)


@fault("sends empty pieces without end", "api_error", "32 MB", words=LONG)
def endless_nothing(talk: Talk) -> None:
    talk.stream(talk.opened())
    talk.forever(talk.text("") * 500)


@fault("opens blocks without end", wires=("messages", "responses"))
def endless_blocks(talk: Talk) -> None:
    talk.stream(talk.opened()[:1])
    number = 0
    while True:
        number += 1
        if talk.wire == "messages":
            event = b'{"type":"content_block_start","index":%d,"content_block":{"type":"text"}}' % number
        else:
            item = b'{"type":"message","id":"m%d"}' % number
            event = b'{"type":"response.output_item.added","output_index":%d,"item":%b}' % (number, item)
        talk.send(b"data: %b\n\n" % event)


def _arguments(talk: Talk, text: str) -> list[bytes]:
    """A reply whose one call has these arguments."""
    return talk.frames(text="", tool_calls=({"name": "Read", "input": {}, "arguments": text},))


def _then_fine(frames: Callable[[Talk], list[bytes]]) -> Play:
    def play(talk: Talk) -> None:
        if talk.number == 1:
            talk.stream(frames(talk))
        else:
            talk.reply()

    return play


def _enter_calls() -> None:
    for name, does, text in (
        ("arguments_not_json", "calls a tool with arguments that are not JSON", "{not json"),
        ("arguments_a_list", "calls a tool with a list instead of an object", "[1]"),
        (
            "deep_arguments",
            "calls a tool with arguments nested 5,000 deep",
            '{"a":' + "[" * 5000 + "]" * 5000 + "}",
        ),
        (
            "nested_arguments",
            "calls a tool with arguments nested 300 deep",
            '{"a":' + "[" * 300 + "]" * 300 + "}",
        ),
        ("surrogate_arguments", "calls a tool with half of a surrogate pair", '{"file_path":"/x\\ud800"}'),
        ("many_arguments", "calls a tool with 1.8 MB of small objects", '{"a":[' + "{}," * 600_000 + "{}]}"),
    ):
        play = _then_fine(lambda talk, text=text: _arguments(talk, text))
        play.__name__ = name
        more = {"words": LONG} if name == "many_arguments" else {}
        fault(f"{does}; the model learns it, and answers", "completed", "fine", **more)(play)


_enter_calls()


@fault("calls a tool that does not exist; the model learns it, and answers", "completed", "fine")
def an_unknown_tool(talk: Talk) -> None:
    if talk.number == 1:
        talk.reply(text="", tool_calls=({"name": "Nothing\n", "input": {}},))
    else:
        talk.reply()


@fault("cuts the stream after a whole call; the call runs, and the answer follows", "completed", "fine")
def cut_after_a_call(talk: Talk) -> None:
    if talk.number > 1:
        talk.reply()
        return
    frames = talk.frames(text="", tool_calls=({"name": "Read", "input": {"file_path": "/nope"}},))
    kept = {"messages": -2, "chat": -2, "responses": -1}[talk.wire]
    talk.stream(frames[:kept])


@fault("calls a tool without end; `--max-turns 5` ends it", "max_turns", words=("--max-turns", "5"))
def endless_calls(talk: Talk) -> None:
    talk.reply(text="", tool_calls=({"name": "Read", "input": {"file_path": f"/nope{talk.number}"}},))


@fault("makes the same failing call without end; the fifth one ends the turn", "repeated_calls", "5 times")
def the_same_call(talk: Talk) -> None:
    talk.reply(text="", tool_calls=({"name": "Read", "input": {"file_path": "/nope"}},))


@fault("sends arguments of a call without end", "api_error", "32 MB", words=LONG)
def endless_arguments(talk: Talk) -> None:
    frames = talk.frames(text="", chunk=7, tool_calls=({"name": "Read", "input": {"file_path": "X" * 30}},))
    cut = next(index for index, frame in enumerate(frames) if b"XXXXXXX" in frame)
    talk.stream(frames[:cut])
    talk.forever(frames[cut] * 200)


@fault("sends pieces for a block that it never opened")
def unopened_block(talk: Talk) -> None:
    if talk.wire == "messages":
        odd = b'data: {"type":"content_block_delta","index":99,"delta":{"type":"text_delta","text":"x"}}\n\n'
    elif talk.wire == "chat":
        call = b'{"index":99,"function":{"arguments":"x"}}'
        odd = b'data: {"id":"c","choices":[{"delta":{"tool_calls":[%b]}}]}\n\n' % call
    else:
        odd = b'data: {"type":"response.output_text.delta","output_index":99,"delta":"x"}\n\n'
    talk.stream([talk.frames()[0], odd, odd])


@fault("starts the reply twice", "completed", "fine")
def starts_twice(talk: Talk) -> None:
    frames = talk.frames()
    talk.stream([frames[0], *frames])


@fault("goes on after the end of the reply", "completed", "fine")
def talks_after_the_end(talk: Talk) -> None:
    talk.stream([*talk.frames(), *talk.frames(text="more")])
    talk.forever(talk.text("more"), 0.01)


@fault("ends before anything else", wires=("messages",))
def ends_first(talk: Talk) -> None:
    talk.stream(talk.frames()[-1:])


@fault(
    "leaves the last event out every time",
    "api_error",
    "before it was complete",
    wires=("messages", "responses"),
)
def no_last_event(talk: Talk) -> None:
    talk.stream(talk.frames()[:-1])


@fault("leaves the last events out every time", wires=("chat",))
def no_last_events(talk: Talk) -> None:
    talk.stream(talk.frames()[:-2])


@fault("sends a broken chunk size")
def broken_chunk(talk: Talk) -> None:
    talk.head(200, CHUNKED)
    talk.send(b"zz\r\n")


@fault("promises a chunk that it does not send")
def short_chunk(talk: Talk) -> None:
    talk.head(200, CHUNKED)
    frame = talk.frames()[0]
    talk.send(b"%x\r\n%b" % (len(frame) + 100, frame))


@fault("promises a longer body")
def short_body(talk: Talk) -> None:
    frames = b"".join(talk.opened())
    talk.head(200, {"content-type": "text/event-stream", "content-length": str(len(frames) + 10)})
    talk.send(frames)


@fault("sends trailers without end after the reply", "completed", "fine")
def endless_trailers(talk: Talk) -> None:
    talk.head(200, CHUNKED)
    body = b"".join(talk.frames())
    talk.send(b"%x\r\n%b\r\n0\r\n" % (len(body), body))
    talk.forever(b"x-more: 1\r\n", 0.001)


@fault("ends its lines with CR", "completed", "fine")
def carriage_returns(talk: Talk) -> None:
    talk.stream([b"".join(talk.frames()).replace(b"\n", b"\r")])


@fault("starts with a byte order mark", "completed", "fine")
def byte_order_mark(talk: Talk) -> None:
    talk.stream([b"\xef\xbb\xbf", *talk.frames()])


@fault("sends a compressed stream that nobody asked for")
def compressed(talk: Talk) -> None:
    import gzip

    talk.head(200, {"content-type": "text/event-stream", "content-encoding": "gzip", "connection": "close"})
    talk.send(gzip.compress(b"".join(talk.frames())))


@fault("fails inside the stream: overloaded")
def fails_inside(talk: Talk) -> None:
    error = (
        b'{"type":"error","error":{"type":"overloaded_error","code":"server_is_overloaded","message":"busy"}}'
    )
    talk.stream([*talk.opened(), b"event: error\ndata: " + error + b"\n\n"])


@fault("refuses inside the stream: the request is not valid", "api_error", "bad words")
def refuses_inside(talk: Talk) -> None:
    error = b'{"type":"error","error":{"type":"invalid_request_error","message":"bad words"}}'
    talk.stream([*talk.opened(), b"event: error\ndata: " + error + b"\n\n"])


@fault("reaches the output limit every time", "api_error", "cut off too often")
def always_too_long(talk: Talk) -> None:
    talk.reply(text="part ", stop_reason="max_tokens")


@fault("reaches the output limit once; the result has both parts", "completed", "first second")
def too_long_once(talk: Talk) -> None:
    if talk.number == 1:
        talk.reply(text="first ", stop_reason="max_tokens")
    else:
        talk.reply(text="second")


@fault(
    "pauses the turn without end; `--max-turns 5` ends it",
    "max_turns",
    words=("--max-turns", "5"),
    wires=("messages",),
)
def endless_pauses(talk: Talk) -> None:
    talk.reply(stop_reason="pause_turn")


@fault("answers with nothing", "completed")
def an_empty_reply(talk: Talk) -> None:
    talk.reply(text="")


@fault("stops for a reason that nobody knows", "completed", "fine", wires=("messages", "chat"))
def unknown_reason(talk: Talk) -> None:
    talk.reply(stop_reason="tired")
