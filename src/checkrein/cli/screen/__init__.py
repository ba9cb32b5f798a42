"""The interactive terminal: a consumer of events, and a producer on `Control`."""
