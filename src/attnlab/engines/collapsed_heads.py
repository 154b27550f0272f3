r"""H heads as two groups, exactly: after the first phase heads of one sign stay equal for ever.

Phase 1 is one step of size $\alpha_h\sqrt H$ from zero, $\alpha_h=\pm1$ (section 5.1):

$$U_h^{(1)}=\alpha_h\mathbf 1_T v^\top,\quad W_h^{(1)}=0,\qquad
  v=\frac1{2n_1}\sum_{i\le n_1}y_i\bar x_i=\tfrac\zeta4u_\star+p .$$

Heads of one sign therefore start equal, see equal gradients and stay equal: H = 10^8 costs what
H = 2 does. (Pooled: $u_h=\alpha_hTv$; last token: $u_h=\alpha_hv$.) The print has $\zeta/2$.

Legend: $\bar x_i$ the mean token of sample i, $n_1$ the samples of phase 1, $u_\star=\mu_+-\mu_-$.
"""

import math

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.special import ndtri
from scipy.stats import binom

from attnlab.data.batch import Batch
from attnlab.engines.heads import HeadsEngine
from attnlab.models.multihead import Heads, Output
from attnlab.models.multihead_initialisation import first_phase_direction as first_phase_direction
from attnlab.models.multihead_initialisation import head_start as head_start

SIGNS = (1.0, -1.0)
LARGEST_EXACT = 1e12
"""Above so many heads the number of signs is drawn from the normal limit."""


def head_counts(uniform: float, H: float, balanced: bool) -> np.ndarray:
    """How many heads have sign +1 and -1: fair coins (from one uniform number), or balanced."""
    if balanced:
        plus = math.ceil(H / 2)
    elif H > LARGEST_EXACT:
        plus = round(H / 2 + math.sqrt(H) / 2 * float(ndtri(uniform)))
    else:
        plus = float(binom.ppf(uniform, H, 0.5))
    return np.array([plus, H - plus], float)


def engine(
    batch: Batch,
    v: Float[Array, " d"],
    counts: Float[Array, " 2"],
    output: Output = "full",
) -> HeadsEngine:
    """The second phase on weighted samples, from the first phase's v."""
    T, d = batch.kept.shape[1], batch.dimension
    u = head_start(v, output, T)
    return HeadsEngine(
        tokens=batch.vectors(),
        labels=batch.labels.astype(float),
        weights=batch.weight(),
        counts=counts,
        H=counts.sum(),
        start=Heads(jnp.stack([sign * u for sign in SIGNS]), jnp.zeros((2, d, d))),
        output=output,
    )
