"""L0: values and mechanisms that know nothing about agent projects."""
