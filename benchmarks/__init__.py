"""Benchmarks: ratios of two ways to do the same work, timed in one run."""
