"""The commands of `bridle machine`, one module each; `front` parses, runs and prints them."""
