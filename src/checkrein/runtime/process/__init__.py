"""Processes: started in one place, confined, ended."""
