"""spec-kit extensions: an `extension.yml` and the command files it names."""
