import unittest

from shop.stock import left


class Stock(unittest.TestCase):
    def test_a_sale_leaves_less(self) -> None:
        self.assertEqual(left({"pear": 5}, "pear", 2), 3)
