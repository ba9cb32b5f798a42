"""What is kept of an output."""

from __future__ import annotations

from pathlib import Path

from checkrein.runtime.process import capture


def test_a_file_has_no_more_than_its_limit(tmp_path: Path) -> None:
    assert capture.FILE_LIMIT == 64 << 20
    kept = capture.Capture(10, str(tmp_path / "out"), file_limit=100)
    for _ in range(30):
        kept.add(b"0123456789")
    kept.close()
    assert (kept.size, len(kept.head)) == (300, 10)
    assert Path(str(kept.path)).read_bytes() == b"0123456789" * 10
