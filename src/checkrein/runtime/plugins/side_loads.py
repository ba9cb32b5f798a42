"""Plugins for one run: a directory, an archive, or the address of an archive."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from checkrein.runtime.plugins.archives import unpack
from checkrein.runtime.plugins.downloads import download
from checkrein.runtime.plugins.package_cache import PackageCache
from checkrein.runtime.plugins.plugin_sources import named_hosts

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel


def side_loaded(
    directories: Sequence[str], urls: Sequence[str], cwd: str, env: Mapping[str, str], cancel: Cancel
) -> tuple[str, ...]:
    """The directories of the plugins. Archives are unpacked into the cache, under their hash. What does not
    exist stays as it is: whoever reads it says so."""
    found = []
    for given in directories:
        path = os.path.join(cwd, os.path.expanduser(given))
        found.append(_unpacked(path, env) if os.path.isfile(path) else given)
    for url in urls:
        cache = PackageCache(env)
        with cache.staging() as staging:
            file = os.path.join(staging, "archive")
            download(url, file, env=env, cancel=cancel, named=named_hosts({"url": url}))
            found.append(_unpacked(file, env))
    return tuple(found)


def _unpacked(file: str, env: Mapping[str, str]) -> str:
    cache = PackageCache(env)
    with cache.staging() as staging:
        return cache.place(cache.put(unpack(file, os.path.join(staging, "files"))))
