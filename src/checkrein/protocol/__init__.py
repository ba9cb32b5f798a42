"""L6: what other programs see: machine commands, stream-json frames, the SDK's control protocol."""
