"""The tools of a session: one declaration and one implementation each."""
