import pytest

from checkrein.facts.models import ALIASES, MODELS, find_model
from checkrein.llm.port import Usage
from checkrein.llm.prices import cost


def test_every_kind_of_token_has_its_price() -> None:
    usage = Usage(input=1000, output=2000, cache_read=30_000, cache_creation=5000, cache_creation_1h=1000)
    expected = (1000 * 4 + 2000 * 20 + 30_000 * 0.2 + 4000 * 5 + 1000 * 8) / 1e6
    assert cost(usage, "claude-opus-5-5") == pytest.approx(expected)


def test_long_prompts_cost_more() -> None:
    assert cost(Usage(input=100_000), "claude-haiku-5-5") == pytest.approx(0.01)
    assert cost(Usage(input=50_000, cache_read=50_001), "claude-haiku-5-5") == pytest.approx(
        (50_000 * 0.5 + 50_001 * 0.05) / 1e6
    )
    assert cost(Usage(input=300_000, output=1000), "gpt-6-sol") == pytest.approx(
        (300_000 * 4 + 1000 * 15) / 1e6
    )


def test_unknown_model_has_no_cost() -> None:
    assert cost(Usage(input=5), "mystery") is None


def test_cost_is_additive_within_a_tier() -> None:
    one, two = Usage(10, 20, 30, 40, 5), Usage(7, 8, 9, 10, 1)
    together, apart = cost(one + two, "sonnet"), (cost(one, "sonnet") or 0) + (cost(two, "sonnet") or 0)
    assert together == pytest.approx(apart)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-opus-4-20250514", "claude-opus-4-0"),
        ("claude-opus-4-1@20250805", "claude-opus-4-1"),
        ("anthropic/claude-opus-4.8", "claude-opus-4-8"),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
        ("openai/gpt-5-mini", "gpt-5-mini"),
        ("gpt-4o-2024-11-20", "gpt-4o"),
        ("claude-sonnet-5-5[1m]", "claude-sonnet-5-5"),
        ("gpt-4o-mini-latest", "gpt-4o-mini"),
    ],
)
def test_names_are_found_through_their_decoration(name: str, known: str) -> None:
    found = find_model(name)
    assert found is not None
    assert found.name == known


def test_names_that_only_look_alike_are_not_found() -> None:
    assert find_model("claude-opus-9") is None
    assert find_model("gpt-5x") is None


def test_table_is_sane() -> None:
    assert set(ALIASES.values()) <= set(MODELS)
    for facts in MODELS.values():
        assert 0 < facts.max_output < facts.window
        assert 0 < facts.prices.cache_read < facts.prices.input < facts.prices.output
        assert (facts.long_prices is None) == (facts.long_above == 0)
        if facts.long_prices is not None:
            assert facts.long_prices.input > facts.prices.input
            assert facts.long_prices.output > facts.prices.output
