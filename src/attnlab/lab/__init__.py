"""The laboratory: finds papers, plans runs, computes them in worker processes, keeps the ledger."""
