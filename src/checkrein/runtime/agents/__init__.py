"""Children: conversations that another one starts."""
