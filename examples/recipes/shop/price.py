"""What a customer pays."""


def total(cents: list[int], percent_off: int = 0) -> int:
    """The sum after the discount, rounded down to a whole cent."""
    full = sum(cents)
    return full - full * percent_off // 10
