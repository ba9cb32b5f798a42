"""Labels for the shelves."""


def label(item: str, cents: int) -> str:
    return f"{item}: {cents // 100}.{cents % 100}"
