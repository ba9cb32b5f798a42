"""The commands of `checkrein machine`, one module each; `front` parses, runs and prints them."""
