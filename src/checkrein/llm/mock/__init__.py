"""The endpoint's side of the three wires: requests are read, scripted replies are written."""
