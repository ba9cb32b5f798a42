"""What is on the shelves."""


def left(stock: dict[str, int], item: str, sold: int) -> int:
    return stock.get(item, 0) + sold
