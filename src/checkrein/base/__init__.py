"""L0: values and mechanisms without any knowledge of agent projects."""
