"""Probes of the two phases, for views of words."""
