"""What every writer shares: the ledger of losses, the emitters, and the writer that rows of facts drive."""
