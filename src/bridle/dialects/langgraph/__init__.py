"""LangGraph projects."""
