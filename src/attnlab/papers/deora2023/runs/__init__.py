"""What the studies run: from a cell and a key to the values of a record."""
