"""L3: models behind one port."""
