"""Where secrets are in a text, and where they are not."""

from __future__ import annotations

import random
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrein.base.secret_spans import MASK, is_secret_field, spans

AWS = "AKIA" + "Q3EGRZ7XMPLW2T9B"
LONG = "wJalrXUtn1EMI/K7MDENG/bPxRfiCYzz12KEY"
BODY = "MIIEowIBAAKCAQEAx5T1c0lVq7m3vZk2n8Q4bY6wR9sJ1dF0hG3kL5pM7aX2uC"
BEGIN, END = "-----BEGIN " + "PRIVATE KEY-----", "-----END " + "PRIVATE KEY-----"
ENCODED = "LS0tLS1CRUdJTi" + "BQUklWQVRFIEtFWS0tLS0tCk1JSUV2UUlCQURBTkJna3Foa2lH"


def found(text: str) -> list[str]:
    return [text[one.start : one.end] for one in spans(text)]


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        (f"id={AWS}.", [AWS]),
        (f"{AWS} and {AWS}", [AWS, AWS]),
        (f"aws_secret_access_key = {LONG}", [LONG]),
        ('{"password": "hunt\\"er2!x"}', ['hunt\\"er2!x']),
        ('{\\"api_key\\": \\"abcd1234efgh5678ij\\"}', ["abcd1234efgh5678ij"]),
        ("DB_PASSWORD=Tr0ub4dor&3", ["Tr0ub4dor&3"]),
        ("export SESSION_TOKEN=9f8e7d6c", ["9f8e7d6c"]),
        ("A=1\nDB_PASSWORD=\"pa ss,w0rd(1)!\"", ["pa ss,w0rd(1)!"]),
        ("postgres://app:pa55w0rd@db/x", ["pa55w0rd"]),
        ("Authorization: Bearer abcdef0123456789abcdef", ["abcdef0123456789abcdef"]),
        ("authorization: basic dXNlcjpwYXNzd29yZDEyMw==", ["dXNlcjpwYXNzd29yZDEyMw=="]),
        ("curl --token s3cr3tvalue99 x", ["s3cr3tvalue99"]),
        ("machine h login me password hunt3r22", ["hunt3r22"]),
        ("<password>S3cretPass</password>", ["S3cretPass"]),
        ("//registry/:_authToken=0f1e2d3c4b5a69788796", ["0f1e2d3c4b5a69788796"]),
        ("AccountKey=Zm9vYmFyMTIzNDU2Nzg5MA==;Endpoint", ["Zm9vYmFyMTIzNDU2Nzg5MA=="]),
        (f"client-key-data: {ENCODED}", [ENCODED]),
        (f"{BEGIN}\n{BODY}\n{BODY[::-1]}\nZm9v\n{END}\nafter", [BODY, BODY[::-1], "Zm9v"]),
        (f"{BEGIN}\r\n{BODY}\r\n{END}", [BODY]),
        (f'"key": "{BEGIN}\\n{BODY}\\nab==\\n{END}\\n"', [BODY, "ab=="]),
        (f"a/b/c.pem:1:{BEGIN}\na/b/c.pem-2-{BODY}\n", [BODY]),
        (f"  key: |\n    {BEGIN}\n    {BODY}\n    {END}\n", [BODY]),
        ("İ PASSWORD=abcDEF12x", ["abcDEF12x"]),
    ],
)  # fmt: skip
def test_secrets(text: str, secrets: list[str]) -> None:
    assert found(text) == secrets


@pytest.mark.parametrize(
    "text",
    [
        "sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        '"integrity": "sha512-Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZmdoaWprbG1ub3A="',
        "commit 9aee0fd2c1b8e7f60514233241506978a1b2c3d4",
        "token: 123e4567-e89b-12d3-a456-426614174000",
        "next_page_token: abcdef1234567890abcdef",
        "max_tokens: 40960000",
        "password: ${DB_PASSWORD}",
        "password=$DB_PASSWORD",
        "api_key = os.environ['API_KEY_1']",
        "token = config.token_value2",
        "token = get_token2(name)",
        'password = "your-password-here1"',
        "API_KEY=changeme12345",
        "secret_name: my-database-secret-1",
        "private_key_path: /etc/ssl/private/server1.pem",
        "postgres://user:password@localhost/db",
        "https://user:${PASSWORD}@host",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "bearer authentication-is-required",
        "author: Some.Name.1984.Of.Somewhere",
        "-----BEGIN " + "CERTIFICATE-----\n" + BODY + "\n-----END CERTIFICATE-----",
        "-----BEGIN " + "PUBLIC KEY-----\n" + BODY + "\n",
        "PublicKeyToken=b03f5f7f11d50a3a",
        "def password(self, value1): ...",
        "API_KEY=«secret:token:0011223344»",
        "A=«secret:aws-key:ae8f6ab4c",
        "password:ae8f6ab4c3» B=1",
        'password="Enter your 2 words here"',
        "PASSWORD: «secret:password:00aa223344»",
        "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAA" * 20,
    ],
)
def test_no_secrets(text: str) -> None:
    assert found(text) == []


def test_fields_of_structured_output() -> None:
    assert is_secret_field("password", "S3cretPass")
    assert is_secret_field("apiKey", "abcd1234efgh5678ij")
    assert not is_secret_field("name", "abcd1234efgh5678ij")
    assert not is_secret_field("nextToken", "abcd1234efgh5678ij")
    assert not is_secret_field("password", "«secret:password:00aa223344»")


@given(st.text(alphabet=string.printable + "«»é", max_size=300))
def test_spans_are_in_order_and_on_one_line(text: str) -> None:
    last = 0
    for one in spans(text):
        assert last <= one.start < one.end <= len(text)
        assert "\n" not in text[one.start : one.end]
        last = one.end


@given(st.integers(1, 60), st.sampled_from(("", "\n", " ", "x = '", '{"a": "')))
def test_a_masked_text_has_no_more_secrets(length: int, before: str) -> None:
    text = f"{before}{AWS}{' ' * length}PASSWORD=Tr0ub4dor&3"
    for one in reversed(spans(text)):
        text = f"{text[: one.start]}«secret:{one.kind}:0123456789»{text[one.end :]}"
    assert len(MASK.findall(text)) == 2
    assert spans(text) == []


@pytest.mark.parametrize(
    "unit",
    [
        "password=",
        "sk-",
        "eyJ",
        f"{BEGIN}\n",
        "token = 'a",
        "://a:",
        'secret: \\"',
        "AKIA",
        "key: ",
        "bearer \n",
    ],
)
def test_hostile_text_is_cheap(unit: str) -> None:
    text = (unit * (200_000 // len(unit) + 1))[:200_000]
    began = time.process_time()
    spans(text)
    assert time.process_time() - began < 1.0


def test_a_megabyte() -> None:
    """The limit is 30 ms on an idle machine; a busy one gets some room."""
    chance = random.Random(1)
    words = ["".join(chance.choices(string.ascii_lowercase, k=chance.randint(2, 9))) for _ in range(2_000)]
    text = " ".join(chance.choices(words, k=180_000))[: 1 << 20]
    times = []
    for _ in range(5):
        began = time.process_time()
        spans(text)
        times.append(time.process_time() - began)
    assert min(times) < 0.12
