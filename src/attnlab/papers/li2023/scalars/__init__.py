"""Numbers of a record of li2023, named in words: read by claims, never stored."""
