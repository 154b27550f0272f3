"""Mutation testing: small faults put into the formulas, and whether the tests notice."""
