"""The machine-first protocol: what each verb of `bridle machine` does, as functions. `cli/machine` parses and
prints."""
