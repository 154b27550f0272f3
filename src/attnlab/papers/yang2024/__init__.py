"""Word co-occurrence learned by gradient flow (Yang et al., 2024)."""
