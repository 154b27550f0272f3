"""The commands, each a dataclass of its options with a `run` that returns the exit code."""
