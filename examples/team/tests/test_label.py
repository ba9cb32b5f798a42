import unittest

from shop.label import label


class Label(unittest.TestCase):
    def test_cents_have_two_digits(self) -> None:
        self.assertEqual(label("pear", 305), "pear: 3.05")
