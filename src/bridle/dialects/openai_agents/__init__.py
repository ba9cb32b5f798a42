"""OpenAI Agents SDK projects."""
