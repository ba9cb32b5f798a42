"""AWS Signature Version 4: the headers that sign one request."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from urllib.parse import quote, unquote

from msgspec import Struct

_ALGORITHM = "AWS4-HMAC-SHA256"


class AwsKeys(Struct, frozen=True):
    """`until` is in seconds since 1970; None for keys that do not end."""

    access: str
    secret: str
    session: str | None = None
    until: float | None = None

    def __repr__(self) -> str:
        return f"AwsKeys({self.access[:4]}…)"


def signed(
    keys: AwsKeys, *, method: str, host: str, path: str, body: bytes, region: str, service: str, at: str
) -> dict[str, str]:
    """The headers to add. `at` is the time as `20261117T120000Z`; `path` is encoded once, with its query."""
    location, _, query = path.partition("?")
    sent = {"host": host, "x-amz-date": at}
    if keys.session:
        sent["x-amz-security-token"] = keys.session
    digest = hashlib.sha256(body).hexdigest()
    names = ";".join(sorted(sent))
    canonical = "\n".join(
        (
            method,
            quote(location, safe="/"),  # all services but one encode the path a second time
            _query(query),
            *(f"{name}:{sent[name]}" for name in sorted(sent)),
            "",
            names,
            digest,
        )
    )
    scope = f"{at[:8]}/{region}/{service}/aws4_request"
    text = "\n".join((_ALGORITHM, at, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    key = f"AWS4{keys.secret}".encode()
    for part in (at[:8], region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    authorization = (
        f"{_ALGORITHM} Credential={keys.access}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    return {**_without_host(sent), "authorization": authorization}


def _query(query: str) -> str:
    pairs = sorted(part.partition("=")[::2] for part in query.split("&") if part)
    return "&".join(
        f"{quote(unquote(name), safe='-_.~')}={quote(unquote(value), safe='-_.~')}" for name, value in pairs
    )


def _without_host(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name != "host"}
