"""Processes: one place starts, confines and ends them."""
