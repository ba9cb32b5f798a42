#!/bin/sh
# Runs a bundled recipe on a copy of this directory, offline: fix-test, or the recipe and inputs that are named.
# The model's words come from session.jsonl; all else is real.
set -eu
checkrein=${CHECKREIN:-checkrein}
here=$(cd "$(dirname "$0")" && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -R "$here/." "$copy"
cd "$copy"
export CHECKREIN_HOME="$copy/.git/checkrein-home" CHECKREIN_MODEL__DEFAULT="scripted:$here/session.jsonl"
git init -q -b main
git config user.name shop
git config user.email shop@example.com
git add -A
git commit -qm "One failing test"
[ $# -gt 0 ] || set -- fix-test
"$checkrein" recipe run "$@" --trust
git diff
