"""The machine-first protocol: what each verb of `checkrein machine` does, as functions. `cli/machine`
parses and prints."""
