"""Scalars of yang2024's records: pure functions record -> number, evaluated by the court."""
