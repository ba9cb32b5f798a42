"""The part of SARIF 2.1.0 that we write, as strict types: no other property, and the limits of the standard.

No package of an index carries the official schema alone, so the rules of its schema stand here for the
objects that a report of ours may hold.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]*:"
_CHARACTERS = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/?#\[\]-]|%[0-9A-Fa-f]{2})"
Uri = Annotated[str, Meta(pattern=f"^{_SCHEME}{_CHARACTERS}+$")]
Reference = Annotated[str, Meta(pattern=f"^{_CHARACTERS}+$")]
Level = Literal["none", "note", "warning", "error"]
Place = Annotated[int, Meta(ge=1)]


class _Object(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    pass


class Message(_Object, frozen=True):
    text: Annotated[str, Meta(min_length=1)]
    markdown: Annotated[str, Meta(min_length=1)] | None = None


class ArtifactLocation(_Object, frozen=True):
    uri: Reference
    uri_base_id: str | None = None

    def __post_init__(self) -> None:
        absolute = re.match(_SCHEME, self.uri) is not None
        if absolute is (self.uri_base_id is not None) or self.uri.startswith("/"):
            raise ValueError(f"{self.uri} is absolute with a base, or relative without one")


class BaseLocation(_Object, frozen=True):
    description: Message
    uri: Uri | None = None


class Region(_Object, frozen=True):
    start_line: Place
    start_column: Place = 1
    end_line: Place | None = None
    end_column: Place | None = None

    def __post_init__(self) -> None:
        last = (self.end_line or self.start_line, self.end_column or 10**9)
        if last < (self.start_line, self.start_column):
            raise ValueError(f"{self} ends before it starts")


class PhysicalLocation(_Object, frozen=True):
    artifact_location: ArtifactLocation
    region: Region | None = None


class Location(_Object, frozen=True):
    physical_location: PhysicalLocation


class Content(_Object, frozen=True):
    text: str


class Replacement(_Object, frozen=True):
    deleted_region: Region
    inserted_content: Content


class ArtifactChange(_Object, frozen=True):
    artifact_location: ArtifactLocation
    replacements: Annotated[list[Replacement], Meta(min_length=1)]


class Fix(_Object, frozen=True):
    description: Message
    artifact_changes: Annotated[list[ArtifactChange], Meta(min_length=1)]


class Result(_Object, frozen=True):
    rule_id: str
    level: Level
    message: Message
    locations: list[Location]
    partial_fingerprints: dict[str, str]
    related_locations: list[Location] = []
    rule_index: Annotated[int, Meta(ge=-1)] = -1
    fixes: list[Fix] = []

    def __post_init__(self) -> None:
        if len({msgspec.json.encode(one) for one in self.related_locations}) < len(self.related_locations):
            raise ValueError("`relatedLocations` holds a place twice")


class Configuration(_Object, frozen=True):
    level: Level


class Rule(_Object, frozen=True):
    id: str
    name: str
    short_description: Message
    full_description: Message
    help: Message
    help_uri: Uri
    default_configuration: Configuration


class Driver(_Object, frozen=True):
    name: str
    version: str
    information_uri: Uri
    rules: list[Rule]


class Tool(_Object, frozen=True):
    driver: Driver


class Run(_Object, frozen=True):
    tool: Tool
    original_uri_base_ids: dict[str, BaseLocation]
    column_kind: Literal["utf16CodeUnits", "unicodeCodePoints"]
    results: list[Result]

    def __post_init__(self) -> None:
        ids = [rule.id for rule in self.tool.driver.rules]
        if len(set(ids)) < len(ids):
            raise ValueError("`rules` holds a rule twice")
        for result in self.results:
            if result.rule_index >= 0 and ids[result.rule_index] != result.rule_id:
                raise ValueError(f"`ruleIndex` of a result of {result.rule_id} is another rule's")
            for location in (*result.locations, *result.related_locations):
                base = location.physical_location.artifact_location.uri_base_id
                if base is not None and base not in self.original_uri_base_ids:
                    raise ValueError(f"{base} is no base of this run")


class Log(Struct, forbid_unknown_fields=True, frozen=True):
    version: Literal["2.1.0"]
    runs: list[Run]
    schema: Uri | None = msgspec.field(name="$schema", default=None)


def valid(text: str | bytes) -> Log:
    """The report; `msgspec.ValidationError` where it breaks the standard."""
    return msgspec.json.decode(text, type=Log)
