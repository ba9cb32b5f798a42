"""What the model gets: segments in a fixed order, and the request made from them."""
