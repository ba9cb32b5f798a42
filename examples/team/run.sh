#!/bin/sh
# Lets a team fix three failing tests on a copy of this directory: three teammates, three worktrees, one merge each.
# The model's words come from session.jsonl (or the script named first, such as conflict.jsonl); all else is real.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -R "$here/." "$copy"
cd "$copy"
export CHECKREIN_HOME="$copy/.git/checkrein-home"
git init -q -b main
git config user.name team
git config user.email team@example.com
git add -A
git commit -qm "Three failing tests"
checkrein run 'Fix the failing tests' --agent coordinator --trust --model "scripted:${1:-session.jsonl}"
git log --oneline --graph
checkrein worktree list
