"""`check` on 10,000 files beside reading and parsing them, and a second run with nothing changed.

    python bench/check.py CORPUS [--files N]

The files are skills with the bodies of the corpus, in plugins of fifty. "Reading and parsing" is: read and
decode each file, its frontmatter with PyYAML's C loader, its body with markdown-it. The runs of the program
are whole processes.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml
from markdown_it import MarkdownIt


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--files", type=int, default=10_000)
    options = parser.parse_args()
    bodies = [path.read_text("utf-8", "replace") for path in sorted(options.corpus.rglob("SKILL.md"))]
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory, "project")
        files = lay(root, bodies, options.files)
        floor = parse(files)
        env = {**os.environ, "HOME": directory, "CHECKREIN_HOME": str(Path(directory, "home"))}
        time.sleep(1)
        runs = [run(root, env) for _ in range(2)]
    print("| what | seconds | ratio |\n|---|---|---|")
    print(f"| read and parse {len(files):,} files | {floor:.1f} | 1 |")
    print(f"| check | {runs[0]:.1f} | {runs[0] / floor:.2f} of reading and parsing |")
    print(f"| check again, nothing changed | {runs[1]:.1f} | {runs[1] / runs[0]:.2f} of the first |")
    return 0


def lay(root: Path, bodies: list[str], count: int) -> list[Path]:
    (root / ".git").mkdir(parents=True)
    files = []
    for number in range(count):
        plugin = root / "plugins" / f"p{number // 50}"
        file = plugin / "skills" / f"s{number}" / "SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_text(re.sub(r"(?m)^name:.*$", f"name: s{number}", bodies[number % len(bodies)], count=1))
        files.append(file)
        if number % 50 == 0:
            (plugin / ".claude-plugin").mkdir()
            manifest = f'{{"name": "p{number // 50}", "version": "1.0.0", "description": "x"}}'
            (plugin / ".claude-plugin" / "plugin.json").write_text(manifest)
    return files


def parse(files: list[Path]) -> float:
    markdown = MarkdownIt()
    started = time.perf_counter()
    for file in files:
        text = file.read_text("utf-8")
        _, head, body = text.split("---", 2) if text.startswith("---") else ("", "", text)
        with contextlib.suppress(yaml.YAMLError):
            yaml.load(head, yaml.CSafeLoader)
        markdown.parse(body)
    return time.perf_counter() - started


def run(root: Path, env: dict[str, str]) -> float:
    program = Path(sys.executable).with_name("checkrein")
    started = time.perf_counter()
    subprocess.run(
        (program, "check", "--statistics"), cwd=root, env=env, stdout=subprocess.DEVNULL, check=False
    )
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
