"""OpenClaw workspaces."""
