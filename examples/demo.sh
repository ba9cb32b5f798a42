#!/bin/sh
# Runs the main job on a copy of examples/first: show it, explain a call, check it, and let an agent mend it.
# The model's words come from examples/first/session.jsonl; everything else is real.
set -eu
checkrein=$(cd "$(dirname "${1:-checkrein}")" 2>/dev/null && pwd)/$(basename "${1:-checkrein}")
[ -x "$checkrein" ] || checkrein=checkrein
here=$(cd "$(dirname "$0")" && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -R "$here/first/." "$copy"
cd "$copy"
export CHECKREIN_HOME="$copy/.checkrein-home" HOME="$copy/.home"
mkdir -p "$HOME"

step() { printf '\n$ %s\n' "$*"; }
step checkrein show
"$checkrein" show
step "checkrein why 'Bash(git status && rm -rf build)'"
"$checkrein" why 'Bash(git status && rm -rf build)'
step checkrein check
"$checkrein" check
step "checkrein trust --yes"
"$checkrein" trust --yes
step "checkrein run 'Fix the failing test'    (the model's words come from session.jsonl; all else is real)"
"$checkrein" run 'Fix the failing test' --model scripted:session.jsonl
step "python3 -m unittest"
python3 -m unittest
step "checkrein recipe run fix-test    (in a copy of examples/recipes; an engine runs the steps, a worker mends the code)"
CHECKREIN="$checkrein" sh "$here/recipes/run.sh"
