import unittest

from shop.price import total


class Price(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(total([250, 150]), 400)

    def test_discount(self):
        self.assertEqual(total([1000], percent_off=15), 850)


if __name__ == "__main__":
    unittest.main()
