"""The court on trial: see `__main__`."""
