"""Servers: what Checkrein is for programs that connect to it."""
