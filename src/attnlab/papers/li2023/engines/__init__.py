"""Two ways to compute a run: on the tokens, and on patterns with counts."""
