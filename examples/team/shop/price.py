"""Prices in cents."""


def discounted(cents: int, percent_off: int) -> int:
    return cents - cents * percent_off // 10
