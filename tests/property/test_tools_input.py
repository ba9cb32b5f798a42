"""Whatever a model, a page or a file says, the tools answer; they don't fall over."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.policy.hosts import is_private_address
from checkrein.runtime.tools.bash_views import viewed
from checkrein.runtime.tools.catalog import builtin_tools
from checkrein.runtime.tools.html_markdown import to_markdown
from checkrein.runtime.tools.validate import coerce

seeded = settings(derandomize=True, max_examples=150, deadline=None)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
TOOLS = builtin_tools()
names = st.sampled_from(sorted({name for tool in TOOLS for name in tool.declaration.schema["properties"]}))


@seeded
@given(st.sampled_from(TOOLS), st.dictionaries(names | st.text(max_size=4), json_values, max_size=6))
def test_any_input_is_judged(tool: Any, input: dict[str, Any]) -> None:
    taken, problem = coerce(tool.declaration, input)
    if problem is None:
        assert coerce(tool.declaration, taken) == (taken, None)
        assert set(tool.declaration.schema.get("required", ())) <= set(taken)
    else:
        assert taken is input
        assert tool.name in problem


TAGS = "a li ul ol table tr td pre title p script h1 blockquote code svg b"
PIECES = [piece for tag in TAGS.split() for piece in (f"<{tag}>", f"</{tag}>", f"<{tag} href=x start=y")]
fragments = st.lists(st.sampled_from([*PIECES, "text", "&amp;", "<!--", "-->", "\n", "|", ">"]), max_size=25)


@seeded
@given(fragments.map("".join) | st.text(max_size=60))
def test_any_page_becomes_text(html: str) -> None:
    assert "\0" not in to_markdown(html, "https://example.com/")


@seeded
@given(st.ip_addresses().map(str))
def test_wrapping_an_address_does_not_make_it_public(address: str) -> None:
    if "." in address and is_private_address(address):
        assert is_private_address(f"::ffff:{address}")


@seeded
@given(st.text(st.sampled_from("cat head sed -n 1,2p a.txt '\"|;&><$`()\\\n*"), max_size=40))
def test_only_plain_commands_count_as_views(command: str) -> None:
    if viewed(command) is not None:
        assert not set(command.strip()) & set("|;&><$`()\\\n*")
