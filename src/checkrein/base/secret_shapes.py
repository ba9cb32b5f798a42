"""The shapes of secrets: what a key, a token or a password looks like in a text.

A quick search for a fixed part (a mark) comes first, and only there does the pattern look. So a text without
any mark costs almost nothing.
"""

from __future__ import annotations

from typing import NamedTuple


class Shape(NamedTuple):
    """`pattern` matches `offset` characters from a mark. Its first group, if it has one, is the secret; else
    all of it is."""

    kind: str
    marks: tuple[str, ...]
    pattern: str
    offset: int = 0


SHAPES: tuple[Shape, ...] = (
    Shape("api-key", ("sk-",), r"(?<![A-Za-z0-9_-])sk-(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{16,}"),
    Shape("stripe-key", ("k_live_", "k_test_"), r"(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{16,}", -1),
    Shape("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"\bgh[pousr]_[A-Za-z0-9]{20,}"),
    Shape("github-token", ("github_pat_",), r"\bgithub_pat_[A-Za-z0-9_]{20,}"),
    Shape("gitlab-token", ("glpat-",), r"\bglpat-[A-Za-z0-9_-]{16,}"),
    Shape("slack-token", ("xox",), r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    Shape("slack-webhook", ("hooks.slack.com/services/",), r"hooks\.slack\.com/services/(T\w+/B\w+/\w{16,})"),
    Shape("aws-key", ("AKIA", "ASIA"), r"\bA(?:KIA|SIA)[A-Z0-9]{16}\b"),
    Shape("google-key", ("AIza",), r"\bAIza[A-Za-z0-9_-]{30,}"),
    Shape("google-token", ("ya29.",), r"\bya29\.[A-Za-z0-9_-]{20,}"),
    Shape("npm-token", ("npm_",), r"\bnpm_[A-Za-z0-9]{30,}"),
    Shape("huggingface-token", ("hf_",), r"\bhf_[A-Za-z0-9]{30,}"),
    Shape("pypi-token", ("pypi-AgE",), r"\bpypi-AgE[A-Za-z0-9_-]{40,}"),
    Shape("sendgrid-key", ("SG.",), r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    Shape("digitalocean-token", ("_v1_",), r"\bdo[op]_v1_[a-f0-9]{40,}", -3),
    Shape("shopify-token", ("shp",), r"\bshp(?:at|ss)_[a-fA-F0-9]{32}"),
    Shape("age-key", ("AGE-SECRET-KEY-",), r"\bAGE-SECRET-KEY-1[0-9A-Z]{40,}"),
    Shape("jwt", ("eyJ", "eyK"), r"\bey[JK][A-Za-z0-9_-]{10,1000}+\.[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{5,}"),
    Shape("private-key", ("-----BEGIN ",), r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----"),
    Shape(
        "encoded-key",
        ("LS0tLS1CRUdJTi",),
        r"LS0tLS1CRUdJTi(?!BDRVJUSUZJQ0FUR|BQVUJMSUMg)[A-Za-z0-9+/]{40,}={0,2}",
    ),
    Shape("bearer", ("earer", "EARER"), r"(?i:\bbearer\s+)([A-Za-z0-9._~+/=-]{16,})", -1),
    Shape("password", ("://",), r"[^\s/:@]+:([^\s/@]+)(?=@)", 3),
)

VALUE = "|".join(f"(?<=://){shape.pattern}" if shape.marks == ("://",) else shape.pattern for shape in SHAPES)
"""Every shape in one pattern."""

MARKS: dict[str, int] = {mark: shape.offset for shape in SHAPES for mark in shape.marks}
"""Every match of VALUE starts this many characters after one of these."""
