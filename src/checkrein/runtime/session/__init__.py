"""A session: what it is asked to do, what happens in it, and how it is put together."""
