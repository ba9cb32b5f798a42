import pytest

from checkrein.llm.sse import SseEvent, SseParser, SseTooLargeError


def parse(*chunks: bytes, limit: int = 1000) -> list[SseEvent]:
    parser = SseParser(limit)
    return [event for chunk in chunks for event in parser.feed(chunk)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_line_ends(end: bytes) -> None:
    text = end.join([b"event: ping", b"data: one", b"data: two", b"", b"data:three", b"", b""])
    assert parse(text) == [SseEvent("ping", b"one\ntwo"), SseEvent("", b"three")]


def test_cr_lf_cut_in_two() -> None:
    assert parse(b"data: a\r", b"\n\r", b"\ndata: b\r\n\r\n") == [SseEvent("", b"a"), SseEvent("", b"b")]


def test_comments_ids_and_unknown_fields_are_passed_over() -> None:
    assert parse(b": hi\nid: 7\nretry: 5\nnonsense\ndata: x\n\n") == [SseEvent("", b"x")]


def test_one_blank_after_the_colon_is_dropped() -> None:
    assert parse(b"data:  x \n\n") == [SseEvent("", b" x ")]


def test_byte_order_mark_even_in_pieces() -> None:
    assert parse(b"\xef", b"\xbb\xbfdata: x\n\n") == [SseEvent("", b"x")]


def test_event_name_does_not_leak_into_the_next_event() -> None:
    assert parse(b"event: a\n\ndata: x\n\n") == [SseEvent("", b"x")]


def test_cut_event_is_not_yielded() -> None:
    assert parse(b"data: x\n\ndata: y\n") == [SseEvent("", b"x")]


def test_size_limit_counts_one_event() -> None:
    assert len(parse(*[b"data: 0123456789\n\n"] * 100, limit=50)) == 100
    assert parse(*[b": keep-alive\n"] * 100, limit=50) == []
    with pytest.raises(SseTooLargeError):
        parse(b"data: " + b"x" * 30, b"x" * 30, limit=50)
    with pytest.raises(SseTooLargeError):
        parse(*[b"data: 0123456789\n"] * 10, limit=50)
