"""What a step answers with, labels or fields: as its text says, else as a model drafted it."""

from __future__ import annotations

import re

from bridle.compile.models import Field, Model, field_of
from bridle.compile.names import Unique
from bridle.compile.values import Element


def labels_of(element: Element) -> tuple[str, ...]:
    return stated_labels(element) or tuple(element.details.get("draft", {}).get("labels", ()))


def stated_labels(element: Element) -> tuple[str, ...]:
    """The choices a classification names in bold or as code at the head of its points."""
    found = re.findall(
        r"^\s*[-*+]\s+(?:\*\*([^*\n]{1,40})\*\*|`([^`\n]{1,40})`)", element.content_full, re.MULTILINE
    )
    labels = [(bold or code).strip(" :.") for bold, code in found]
    return tuple(dict.fromkeys(labels)) if len(set(labels)) > 1 else ()


def record_of(element: Element, function: str, classes: Unique) -> Model | None:
    """The model of what an extraction gives; None where nothing says its fields."""
    used: set[str] = set()
    fields: list[Field] = [
        field_of(one["name"], one["type"], True, used, one["about"])
        for one in element.details.get("draft", {}).get("fields", ())
    ]
    if not fields:
        return None
    name = classes.take(function.title().replace("_", "") + "Record")
    return Model(name, tuple(fields), about=f"What {function} gives.")
