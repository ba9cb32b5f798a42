"""Children: conversations that another conversation starts."""
