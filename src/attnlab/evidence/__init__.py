"""Statistics that turn measured numbers and a law into an outcome."""
