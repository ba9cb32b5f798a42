"""The exec guard: every program that a command starts is judged when it starts.

One small process per session, the warden, starts the guarded commands, is the ancestor of all that they
start, and answers the kernel's notifications. It knows which starts are clear; the rest are questions to the
session. `client` is the session's side. The other modules run in the warden: they need the standard library
and nothing else.
"""
