"""What is read off an engine while it trains: `(t, view, args) -> named arrays`."""
