"""The command `claude`, answered by Checkrein."""
