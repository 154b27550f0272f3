"""Scripts that made what is embedded."""
