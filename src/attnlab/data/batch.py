"""A batch of samples, the one thing that every data distribution returns."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int


class Batch(eqx.Module):
    """Samples of L tokens each, with what the distribution knows about them.

    Legend: n samples, L tokens in each. What a role or a type number means is said by the
    distribution that drew the batch.
    """

    tokens: Int[Array, "n L"] | Float[Array, "n L d"]
    """Word indices where words are orthonormal, else the vectors themselves."""
    labels: Int[Array, " n"]
    """-1 or +1."""
    roles: Int[Array, "n L"]
    types: Int[Array, " n"]
    kept: Bool[Array, "n L"]
    """The tokens that a model may see; all of them unless a sparsification chose."""

    @property
    def words(self) -> Int[Array, "n L"]:
        """The word indices."""
        if not jnp.issubdtype(self.tokens.dtype, jnp.integer):
            raise TypeError("this batch holds token vectors, not word indices; read `tokens`")
        return self.tokens
