"""Li et al. (2023): shallow vision transformers, learning, generalisation, sample complexity."""
