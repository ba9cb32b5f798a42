"""The endpoint's side of the three wires: it reads requests and writes scripted replies."""
