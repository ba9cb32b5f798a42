"""Delete a session: first the transcript, in one unlink, then the files beside it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from checkrein.base.errors import NotFoundError, SessionError
from checkrein.runtime.store.index import forget
from checkrein.runtime.store.layout import companion_dir, refuse_links
from checkrein.runtime.store.lock import SessionLock


def remove(root: Path, path: Path) -> bool:
    """False when another process was faster. Refuses a session that is open; removes a link without
    following it."""
    refuse_links(root, path.parent)
    try:
        lock = SessionLock.acquire(path)
    except NotFoundError:
        return False
    try:
        os.unlink(path)
        beside = companion_dir(path)
        if beside.is_symlink():
            beside.unlink()
        elif beside.is_dir():
            shutil.rmtree(beside)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise SessionError(
            f"Session {path.stem} can't be deleted ({error.strerror or error}: {path}).",
            kind="session_delete_failed",
            hint="Check the permissions of the directory.",
            retryable=True,
        ) from error
    finally:
        lock.release()
    forget(root, path)
    return True
