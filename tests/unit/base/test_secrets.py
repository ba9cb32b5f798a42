from __future__ import annotations

import pytest

from bridle.base.secrets import REDACTED, is_secret_name, is_sensitive, looks_secret, redact

FAKE = "sk-ant-" + "a1B2" * 8


@pytest.mark.parametrize(
    "name",
    ["GITHUB_TOKEN", "apiKey", "API_KEY", "Authorization", "db-password", "MY_PAT", "accessKey", "DSN"],
)
def test_secret_names(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name", ["PATH", "NODE_ENV", "author", "keyboard", "tokenizer_path", "patience", "monkey"]
)
def test_plain_names(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    "value",
    [
        FAKE,
        "ghp_" + "a" * 36,
        "AKIA" + "A1" * 8,
        "Bearer " + "x" * 24,
        "https://me:pass@host/",
        "xoxb-" + "1" * 12,
    ],
)
def test_secret_values(value: str) -> None:
    assert looks_secret(value)


@pytest.mark.parametrize("value", ["sk-learn", "hello", "https://host/path", "bearer", "ask-me-anything"])
def test_plain_values(value: str) -> None:
    assert not looks_secret(value)


@pytest.mark.parametrize("value", ["${TOKEN}", "$TOKEN", "<your token>", "", "${TOKEN:-}"])
def test_references_are_no_secrets(value: str) -> None:
    assert not is_sensitive("TOKEN", value)


def test_redaction_reaches_everything() -> None:
    value = {"env": {"TOKEN": "hunter2hunter2", "A": "b"}, "args": ["--key", FAKE], "n": 1}
    assert redact(value) == {"env": {"TOKEN": REDACTED, "A": "b"}, "args": ["--key", REDACTED], "n": 1}
