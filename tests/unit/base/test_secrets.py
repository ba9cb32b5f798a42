from __future__ import annotations

import time

import pytest

from checkrein.base.secrets import (
    REDACTED,
    is_secret_name,
    is_sensitive,
    looks_secret,
    redact,
    redact_command,
    redact_source,
    redact_words,
)

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


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("run --token hunter2x --port 8080", f"run --token {REDACTED} --port 8080"),
        ("run --api-key=hunter2x", f"run --api-key={REDACTED}"),
        ("run --password 'hunter2x'", f"run --password '{REDACTED}'"),
        ("TOKEN=hunter2x run", f"TOKEN={REDACTED} run"),
        ("run --token $TOKEN", "run --token $TOKEN"),
        ("run --token ${TOKEN:-none}", "run --token ${TOKEN:-none}"),
        ("run --tokenizer bert-base", "run --tokenizer bert-base"),
    ],
)
def test_a_command_line_hides_what_follows_a_secret_flag(line: str, shown: str) -> None:
    assert redact_command(line) == shown
    assert redact({"command": line}) == {"command": shown}


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ('"Authorization": "Bearer hunter2x"', f'"Authorization": "Bearer {REDACTED}"'),
        ("Authorization: Basic aHVudGVy", f"Authorization: Basic {REDACTED}"),
        ('"Authorization": "Bearer ${TOKEN}"', '"Authorization": "Bearer ${TOKEN}"'),
        ('"Authorization": "hunter2x"', f'"Authorization": "{REDACTED}"'),
    ],
)
def test_the_scheme_of_a_header_does_not_hide_its_secret(line: str, shown: str) -> None:
    assert redact_source(line) == shown


def test_arguments_hide_the_word_after_a_secret_flag() -> None:
    words = ["-y", "server", "--token", "hunter2x", "--api-key=hunter2x", "--port", "8080"]
    shown = ["-y", "server", "--token", REDACTED, f"--api-key={REDACTED}", "--port", "8080"]
    assert redact_words(words) == shown
    assert redact({"args": words}) == {"args": shown}


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (
            '{"env": {"A": "one", "B": "${X:-two}"}, "model": "opus"}',
            f'{{"env": {{"A": "{REDACTED}", "B": "${{X:-two}}"}}, "model": "opus"}}',
        ),
        ('"env": {"A": "on\\"e", "B": 3}', f'"env": {{"A": "{REDACTED}", "B": 3}}'),
        ('"environment": {"A": "one"}', '"environment": {"A": "one"}'),
    ],
)
def test_values_of_an_environment_are_hidden(line: str, shown: str) -> None:
    assert redact_source(line) == shown


def test_secrets_are_found_wherever_they_stand_and_hostile_text_is_cheap() -> None:
    assert looks_secret("word " * 1000 + "token: Bearer\n" + "x1" * 10)
    assert not looks_secret("-----BEGIN PUBLIC KEY-----")
    began = time.process_time()
    assert not looks_secret("eyJ-" * 25_000)
    assert time.process_time() - began < 2
