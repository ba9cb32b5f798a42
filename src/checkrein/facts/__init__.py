"""L1: data about agents, tools, commands, models and formats. The only place each fact stands."""
