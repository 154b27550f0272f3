"""Models: pure functions of their parameters."""
