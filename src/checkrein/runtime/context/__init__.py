"""What the model is told: segments in a fixed order, and the request that is made of them."""
