"""The programs of the machine that the guard knows under any name."""

from __future__ import annotations

import glob

from checkrein.runtime.process.guard.identity import Files
from checkrein.runtime.process.guard.kinds import Kinds


def test_every_loader_of_the_machine_is_looked_at() -> None:
    loaders = {*glob.glob("/lib*/ld-*.so*"), *glob.glob("/lib/*/ld-*.so*")}
    places = set(Kinds("/usr/bin:relative", Files())._places())
    assert loaders <= places
    assert "/usr/bin/bash" in places
    assert not any(place.startswith("relative") for place in places)
