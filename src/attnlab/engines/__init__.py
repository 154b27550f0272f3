"""Exact ways to run the training of this paper; they share views and probes."""
