from __future__ import annotations

import json
import re

import msgspec
import pytest

from checkrein.base import clock, envelope, ids
from checkrein.base.diagnostic import Diagnostic
from checkrein.base.errors import ERROR_CLASSES, CheckreinError, NotFoundError
from checkrein.base.nearest import did_you_mean, nearest
from checkrein.base.origin import Origin, Span


def test_fixed_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHECKREIN_CLOCK", "2026-01-02T03:04:05.250Z")
    assert clock.timestamp() == "2026-01-02T03:04:05Z"
    assert clock.timestamp_ms() == "2026-01-02T03:04:05.250Z"


def test_ids_are_uuids_and_can_be_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
    assert pattern.fullmatch(ids.new_uuid())
    assert ids.new_uuid() != ids.new_uuid()
    monkeypatch.setenv("CHECKREIN_ID_SEED", "x")
    assert pattern.fullmatch(ids.new_uuid())


@pytest.mark.parametrize("text", ["a", "A.b-c_9", "x" * 128, "-x"])
def test_safe_ids(text: str) -> None:
    assert ids.is_safe_id(text)


@pytest.mark.parametrize("text", ["", ".", "..", ".hidden", "a/b", "x" * 129, "a b", "a\n", "ä"])
def test_unsafe_ids(text: str) -> None:
    assert not ids.is_safe_id(text)


def test_nearest() -> None:
    assert nearest("descripton", ["name", "description"]) == "description"
    assert did_you_mean("zzz", ["name"]) == ""


def test_envelope_has_data_or_error() -> None:
    good = json.loads(envelope.encode(envelope.success("show", {"a": 1})))
    assert good["data"] == {"a": 1}
    assert "error" not in good
    error = NotFoundError("no", hint="look", origin=Origin("/f", "project", Span(3)))
    bad = json.loads(envelope.encode(envelope.failure("show", error, 1)))
    assert "data" not in bad
    assert bad["error"]["class"] == "not_found"
    assert bad["error"]["origin"]["span"]["line"] == 3
    assert list(good)[:5] == ["timestamp", "command", "exit_code", "output_format", "schema_version"]


def test_error_classes_are_closed() -> None:
    def below(kind: type[CheckreinError]) -> list[type[CheckreinError]]:
        return [kind, *(deeper for child in kind.__subclasses__() for deeper in below(child))]

    assert {kind.error_class for kind in below(CheckreinError)} <= set(ERROR_CLASSES)


def test_values_are_frozen_and_round_trip() -> None:
    found = Diagnostic("AS001", "error", "m", Origin("/f", "user", Span(1, 2, 1, 5), "frontmatter.name"))
    with pytest.raises(AttributeError):
        found.code = "x"  # type: ignore[misc]
    assert msgspec.json.decode(msgspec.json.encode(found), type=Diagnostic) == found
