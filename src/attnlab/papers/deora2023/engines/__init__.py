"""Exact ways to compute a run of deora2023."""
