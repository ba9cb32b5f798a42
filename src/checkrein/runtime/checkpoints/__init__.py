"""Files and conversation as they were before each prompt, and the way back to that."""
