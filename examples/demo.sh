#!/bin/sh
# Runs the main job on a copy of examples/first: show it, explain a call, check it, and let an agent mend it.
# The model's words come from examples/first/session.jsonl; everything else is real.
set -eu
bridle=$(cd "$(dirname "${1:-bridle}")" 2>/dev/null && pwd)/$(basename "${1:-bridle}")
[ -x "$bridle" ] || bridle=bridle
here=$(cd "$(dirname "$0")" && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -R "$here/first/." "$copy"
cd "$copy"
export BRIDLE_HOME="$copy/.bridle-home" HOME="$copy/.home"
mkdir -p "$HOME"

step() { printf '\n$ %s\n' "$*"; }
step bridle show
"$bridle" show
step "bridle why 'Bash(git status && rm -rf build)'"
"$bridle" why 'Bash(git status && rm -rf build)'
step bridle check
"$bridle" check
step "bridle trust --yes"
"$bridle" trust --yes
step "bridle run 'Fix the failing test'    (the model's words come from session.jsonl; all else is real)"
"$bridle" run 'Fix the failing test' --model scripted:session.jsonl
step "python3 -m unittest"
python3 -m unittest
