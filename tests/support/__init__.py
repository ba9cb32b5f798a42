"""What several tests share and no user needs. Fixtures are in the conftest files."""
