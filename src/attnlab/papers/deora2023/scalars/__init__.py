"""Numbers of records that no run stores: pure functions, evaluated when a claim is judged."""
