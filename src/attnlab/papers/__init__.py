"""The papers, one package each; none imports another."""
