"""What the theory says in numbers: limits, conditions and bounds. Nothing here trains."""
