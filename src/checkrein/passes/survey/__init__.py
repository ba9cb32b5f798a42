"""What `check` looks at: the project of each named path, and everything below it that has its own place."""
