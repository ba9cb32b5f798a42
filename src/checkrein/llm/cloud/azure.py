"""Azure OpenAI: a deployment behind the resource's own address."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

_VERSIONS = ("AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION")


def chat_path(deployment: str, env: Mapping[str, str]) -> str:
    """The path of Chat Completions. A dated version of the API has the deployment in the path."""
    version = next((env[name] for name in _VERSIONS if env.get(name)), None)
    if version is None or version in ("v1", "preview"):
        return "/openai/v1/chat/completions"
    return f"/openai/deployments/{quote(deployment, safe='')}/chat/completions?api-version={quote(version)}"
