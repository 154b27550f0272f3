"""attnlab: a laboratory for the theory of attention training."""

__version__ = "0.1.0"
