"""Scalars that claims read, taken from the series of a finished run (plain numpy)."""
