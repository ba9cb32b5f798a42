import unittest

from shop.price import discounted


class Price(unittest.TestCase):
    def test_discount(self) -> None:
        self.assertEqual(discounted(1000, 25), 750)
