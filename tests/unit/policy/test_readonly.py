"""Built-in knowledge: what runs without any rule, and what does not."""

from __future__ import annotations

import pytest

from checkrein.policy.lines import answer

RUNS = r"""
git log --oneline -5
git diff HEAD~1 -- src
git show HEAD:README.md
git branch --show-current
git remote get-url origin
git stash list
git status --short
git status --ignore-submodules
git status --ignore-submodules=all
git diff --no-ext-diff --no-textconv
git log -STODO
git log -p --follow a.txt
git log --format=%H
git describe --tags
git ls-files -o
git grep -n -e foo
sha256sum a.txt
wc -l a.txt
du -sh src
file a.txt
arch
ls --hyperlink
diff -u a b
git blame -L 1,5 a.txt
git --no-pager log
cat package.json | jq .name
rg -n foo src
rg --files | head
grep -rn "foo" src | head
find . -name "*.ts" -not -path "./node_modules/*"
find . -type f | wc -l
cd src && ls
test -d x && echo yes
echo "$HOME"
ls; echo $?
date +%s
sed -n "1,20p" a.txt
sed s/a/b/ a.txt
ps aux
which node
docker images
docker logs --tail 5 c
cat a.txt 2>/dev/null || echo none
tree -L 2
sort -n a.txt
head -n 5 a.txt
man ls
awk '{print $1}' a.txt
awk -F: '$3 > 10 {print $1, $NF}' a.txt | sort -u
awk 'NR>=10 && NR<=20' src/x.ts
awk 'END{print NR}' a.txt
awk '!seen[$0]++' a.txt
awk '{if (NF > 2) n++} END {print n}' src/*.ts
awk -v n=3 '$1 == n' a.txt
awk '/^#/ {next} $2 ~ /x/' a.txt
for f in src/*.ts; do echo $f; done
for f in src/*.ts; do echo "== $f"; head -5 "$f"; done
for f in ./*.ts; do wc -l "$f"; done
for i in 1 2 3; do echo $i; done
for i in {1..3}; do head -$i a.txt; done
(cd src && ls)
(cd src && ls -la && head -5 x.ts)
comm -12 <(sort a.txt) <(sort sub/b.txt)
diff <(ls src) <(ls sub)
find . -name '*.py' -exec grep -l foo {} \;
find src -type f -name '*.ts' -exec wc -l {} +
"""

ASKED = r"""
git status --ignore-submodules=none
git status --ignore-submodules=dirty
git status --ignore-sub=untracked
git diff --submodule=diff
git diff --submodule
git diff --subm=log
git log -p --submodule=diff
git show --submodule=diff
git diff --textconv
git diff --textc
git log -p --ext-diff
git log -p --textconv
git show --ext-diff
git show --textconv HEAD
git stash show -p --ext-diff
git stash show --textconv
git whatchanged --ext-diff
git diff-tree --textconv HEAD
git diff-index --ext-diff HEAD
git blame --textconv a
git annotate --textconv a
git log --show-signature
git show --show-sig
git log --format=%G?
git log --format='%GG'
git log --pretty=format:%GK
git for-each-ref --format='%(signature)'
git branch --format='%(signature:grade)'
git tag -l --format '%(signature)'
git log --remerge-diff
git log --diff-merges=remerge
git show --diff-merges=r
git describe --dirty
git describe --broken
git submodule status
git submodule summary
git submodule foreach ls
git ls-files --recurse-submodules
git grep --recurse-submodules x
git grep -nO x
git grep -O x
git grep --open-files x
git cat-file --filters HEAD:a
git diff -Oorder
git -p log
git --work-tree=x status
git --git-dir=x status
git -C x status
git remote show origin
git remote update
git ls-remote
git difftool
git verify-commit HEAD
git tag -v v1
git config -e
git archive HEAD
sha1sum -c x
sha256sum --check x
sha512sum --ch x
cksum --check x
wc --files0-from=x
du --files0-from=x
file -z a
file -Z a
file --uncomp a
file -C
file -m x y
arch -x86_64 ls
arch ls
tree -R
date -f x
date --set x
rg -z x
rg --hostname-bin=x y
find . -fls x
find . -fprintf x y
find . -ok ls
man -P x ls
man --pager=x ls
man ./a
ps e
jq -L x .
jq --rawfile a b .
jq 'import "x" as y; .' a
sed -f x a
sed 's/a/b/;w x' a
sdiff -o x a b
hostname -F x
history -w x
docker --config x ps
git diff --ext-diff
git diff --no-index a b
git log --output=x
git log --outp=x
git branch -D x
git branch x
git tag x
git config user.name x
git config --unset x
git stash
git remote add x y
git worktree add x
git -c core.pager=x log
git --exec-path=x log
git grep -Oless x
git cat-file --textconv x
git reflog expire
docker -H x ps
docker rm x
docker ps --context x
rg --pre x y
rg --pr x y
sort -o x a
sort --outp=x a
sort --compress-program=x a
find . -delete
find . -fprint x
find . -files0-from x
sed -i s/a/b/ x
sed -n 'w x' a
sed s/a/b/w a
sed s/a/b/e a
jq -f x y
jq env x
jq '$ENV.X' x
tree -o x
date -s x
date 0101
file -m x y
base64 -o x y
ps e
ps auxe
man -P x ls
history -c
hostname x
md5sum -c x
awk '{print}' a.txt
awk '{print $1 > "x"}' a.txt
awk '{print($1) > "x"}' a.txt
awk '{n++ /1; print $1 > "x" /1}' a.txt
awk '{system($1)}' a.txt
awk '{print $1 | "sh"}' a.txt
awk '{"id" | getline x; print $1}' a.txt
awk '{print ENVIRON["X"], $1}' a.txt
awk 'BEGIN {ARGV[1] = "x"} {print $1}' a.txt
awk '@include "x"; {print $1}' a.txt
awk '/[/]/ {print > "x"} /]/' a.txt
awk '{print $1}' ../x
awk '{print $1}' *
awk '{print $1}' -f x
awk -f x a.txt
awk -i inplace '{print $1}' a.txt
for f in a b; do echo $f; done
for f in src/*.ts; do head $f; done
for f in src/*.ts; do sort "$f"; done
for f in src/*.ts; do rm "$f"; done
for f in src/../../*; do cat "$f"; done
for f in .*; do ls "$f"; done
for f in src/*.ts; do f=../x; cat "$f"; done
for f in src/*.ts; do echo "$f$(ls)"; done
(ls)
(cd src; ls)
(cd .. && ls)
(cd src && touch x)
(cd src && cat ../../x)
cat <(ls)
diff <(ls) >(cat)
diff <(touch x) <(ls)
diff <(cat ../x) <(ls)
diff() { sh $1; }; diff <(ls) <(ls)
find . -exec echo {} \;
find . -exec cat {} \; -name '*.py'
find . -name '*.py' -o -exec cat {} \;
find . -name '*.py' -exec touch {} \;
find . -name '*.py' -exec cat {} ../x \;
find . -name '*.py' -exec cat {}/../../x \;
find . -name '*.py' -exec cat {} \; -delete
find .. -name '*.py' -exec cat {} \;
find -L . -name '*.py' -exec cat {} \;
find . -name '*.py' | xargs grep x
cat .*/x
cat /etc/passwd
cat ~/x
ls ..
cat $X
echo $SECRET
echo ${HOME}
xargs cat
xargs -n1 echo
command -v ls
FOO=1 ls
LD_PRELOAD=x ls
ls > x
ls & pwd
cat < /etc/passwd
cat <(ls)
/bin/ls
./ls
ls $(pwd)
awk 1 a
node x
python3 -c 1
help -x
"""


def rows(text: str) -> list[str]:
    return [line for line in text.strip("\n").split("\n") if line]


def verdict(text: str) -> str:
    return answer({"tool": "Bash", "input": {"command": text}}, cwd="/p", home="/h").line.verdict


@pytest.mark.parametrize("text", rows(RUNS))
def test_runs_without_a_rule(text: str) -> None:
    assert verdict(text) == "allow"


@pytest.mark.parametrize("text", rows(ASKED))
def test_needs_a_rule(text: str) -> None:
    assert verdict(text) == "ask"
