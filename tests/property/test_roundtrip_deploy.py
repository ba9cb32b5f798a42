"""Any sequence of deploys, undos and edits leaves what the user wrote; undo leaves nothing of ours."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.deploy.apply import apply_plan
from checkrein.deploy.manifest import load_manifest
from checkrein.deploy.paths import Paths
from checkrein.deploy.plan import make_plan, plan_undo
from checkrein.dialects.generic.written import File, Written

PATHS = st.sampled_from(["a", "d/a", "d/b", "e/f/g"])
TEXTS = st.sampled_from(["1", "2", "3"])
OUTPUTS = st.dictionaries(PATHS, TEXTS, max_size=4)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("edit"), PATHS, TEXTS.map(lambda text: f"mine {text}")),
        st.tuples(st.just("remove"), PATHS, st.just("")),
        st.tuples(st.just("deploy"), st.sampled_from(["x", "y", "xy"]), OUTPUTS),
        st.tuples(st.just("undo"), st.sampled_from(["x", "y", "all"]), st.just("")),
    ),
    max_size=10,
)


def tree(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_text()
        for path in root.rglob("*")
        if path.is_file() and ".checkrein" not in path.parts
    }


def answer(files: dict[str, str]) -> Written:
    return Written(tuple(File(path, text.encode()) for path, text in sorted(files.items())), ())


@settings(max_examples=150, deadline=None, derandomize=True)
@given(STEPS)
def test_what_the_user_wrote_is_never_touched(steps: list[tuple[str, str, object]]) -> None:
    with TemporaryDirectory() as directory:
        root = Path(directory).resolve()
        theirs: dict[str, str] = {}
        for action, name, value in steps:
            file = root / name
            if action == "edit":
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(str(value))
                theirs[name] = str(value)
            elif action == "remove":
                file.unlink(missing_ok=True)
                theirs.pop(name, None)
            else:
                paths = Paths(root)
                manifest = load_manifest(root)
                if action == "undo":
                    plan = plan_undo(paths, manifest, None if name == "all" else [name])
                else:
                    assert isinstance(value, dict)
                    plan = make_plan(paths, {target: answer(value) for target in name}, manifest)
                before = tree(root)
                if plan.errors:
                    continue
                apply_plan(paths, plan)
                again = load_manifest(root)
                if action == "deploy":
                    repeated = make_plan(Paths(root), {target: answer(value) for target in name}, again)
                    assert not repeated.pending
                    assert repeated.manifest == again
                assert all(before.get(path) == text for path, text in theirs.items())
            found = tree(root)
            assert all(found.get(path) == text for path, text in theirs.items())
        paths = Paths(root)
        apply_plan(paths, plan_undo(paths, load_manifest(root)))
        assert tree(root) == theirs
        assert not (root / ".checkrein").exists()
