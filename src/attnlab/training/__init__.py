"""Training: losses, the engine protocol, descent, gradient flow, trajectories."""
