"""Sessions that delegate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from checkrein.runtime.session.session import Session
from support.sessions import open_session

Opens = Callable[..., Session]


@pytest.fixture
def sessions(project: Path) -> Iterator[Opens]:
    made: list[Session] = []

    def make(*replies: dict[str, Any], **options: Any) -> Session:
        made.append(open_session(project, *replies, **options))
        return made[-1]

    yield make
    for session in made:
        session.close()
