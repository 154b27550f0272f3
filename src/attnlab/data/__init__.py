"""Data distributions: `sample(key, n)` of a frozen object gives a `Batch`."""
