"""What must not keep a session alive: the end of one that nobody closed, and the way from its tools to it."""

from __future__ import annotations

import warnings
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checkrein.runtime.session.services import Services
    from checkrein.runtime.session.session import Session
    from checkrein.runtime.store import SessionWriter
    from checkrein.runtime.tools.delegate import Delegate


def end_left_open(services: Services, writer: SessionWriter) -> None:
    """End what a session holds that the program never closed: its processes and its transcript. Its hooks do
    not run."""
    warnings.warn("A session was never closed. Use `with`, or call close().", ResourceWarning, stacklevel=2)
    try:
        services.close()
    finally:
        writer.close()


def delegate_of(session: weakref.ref[Session]) -> Delegate:
    found = session()
    assert found is not None  # its tools run only while it lives
    return found.delegate()
