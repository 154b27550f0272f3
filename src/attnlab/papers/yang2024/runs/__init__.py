"""What the studies run: one module for each kind of run, their probes and their summaries."""
