"""From the arrays of a run to the scalars that claims read: numpy only."""
