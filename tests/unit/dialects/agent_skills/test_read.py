from collections.abc import Callable, Mapping
from pathlib import Path

from checkrein.dialects.agent_skills.read import read
from checkrein.dialects.claude.place import locate

Tree = Callable[[Mapping[str, str]], Path]
SKILL = "---\nname: a\ndescription: d\n---\n"


def test_the_projects_skills_then_the_users(tree: Tree) -> None:
    root = tree(
        {
            "p/.git/": "",
            "p/.agents/skills/one/SKILL.md": SKILL,
            "p/.agents/skills/low/skill.md": SKILL,
            "p/skills/two/SKILL.md": SKILL,
            "p/skills/empty/": "",
            "home/.agents/skills/three/SKILL.md": SKILL,
        }
    )
    place = locate(str(root / "p"), env={}, home=str(root / "home")).place
    found = [(skill.name, skill.origin.scope) for skill in read(place).skills]
    assert found == [("low", "project"), ("one", "project"), ("two", "project"), ("three", "user")]


def test_a_plugins_skills_are_its_own(tree: Tree) -> None:
    root = tree({"p/.git/": "", "p/.claude-plugin/": "", "p/skills/two/SKILL.md": SKILL})
    assert read(locate(str(root / "p"), env={}, home=str(root / "home")).place).skills == ()
