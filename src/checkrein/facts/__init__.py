"""L1: data about agents, tools, commands, models and formats. Each fact is here, and only here."""
