"""Trust: which parts of a project may run. The key is the project's real path and a hash of what runs."""

from __future__ import annotations

from checkrein.runtime.trust.approvals import TrustStore
from checkrein.runtime.trust.status import revoke, status, trust, trusted_origin
from checkrein.runtime.trust.surface import Surface, surface
from checkrein.runtime.trust.view import Standing, standing, untrusted_view

__all__ = [
    "Standing",
    "Surface",
    "TrustStore",
    "revoke",
    "standing",
    "status",
    "surface",
    "trust",
    "trusted_origin",
    "untrusted_view",
]
