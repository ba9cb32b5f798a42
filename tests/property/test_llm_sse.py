"""The event parser does not care how its bytes arrive."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.llm.sse import SseEvent, SseParser

LINES = st.lists(
    st.one_of(
        st.sampled_from(
            [b"", b"", b"data: x", b"data:", b"event: e", b": c", b"data: \xef\xbb\xbf", b"id: 1", b"data"]
        ),
        st.binary(max_size=12).map(lambda data: data.replace(b"\n", b"").replace(b"\r", b"")),
    ),
    max_size=12,
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@settings(max_examples=300, derandomize=True, deadline=None)
@given(
    LINES, st.lists(ENDS, min_size=12, max_size=12), st.lists(st.integers(0, 80), max_size=8), st.booleans()
)
def test_any_chunking_equals_the_whole(
    lines: list[bytes], ends: list[bytes], cuts: list[int], bom: bool
) -> None:
    data = (b"\xef\xbb\xbf" if bom else b"") + b"".join(a + b for a, b in zip(lines, ends, strict=False))
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    chunks = [data[start:end] for start, end in pairwise(places)]
    parser = SseParser()
    assert [event for chunk in chunks for event in parser.feed(chunk)] == list(SseParser().feed(data))


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.text("abc", max_size=3), st.binary(max_size=30)), max_size=6), ENDS)
def test_what_is_written_is_read(events: list[tuple[str, bytes]], end: bytes) -> None:
    written, expected = b"", []
    for name, data in events:
        payload = data.replace(b"\r", b"").split(b"\n")
        written += b"event: " + name.encode() + end if name else b""
        written += b"".join(b"data: " + line + end for line in payload) + end
        expected.append(SseEvent(name, b"\n".join(payload)))
    assert list(SseParser().feed(written)) == expected
