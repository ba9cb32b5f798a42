"""L6: the surface for other programs: machine commands, stream-json frames, the SDK's control protocol."""
