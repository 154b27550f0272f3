"""A run that was made in this process: its settings, weights and series, and what to do with it."""

import dataclasses
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree
from numpy.typing import ArrayLike

from attnlab.cells import SettingValue
from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.facade import series as tables
from attnlab.facade.precision import in_double
from attnlab.facade.showing import rows_as_html
from attnlab.models.multihead_model import MultiHead
from attnlab.models.protocol import Weights
from attnlab.models.shallow_vit_model import ShallowViT
from attnlab.training.losses import LOSSES

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

REPEATS = 5
"""Timed passes, of which the median counts."""


@dataclass(frozen=True)
class Score:
    """How a model does on samples."""

    samples: int
    tokens: float
    """Kept tokens of a sample, on average."""
    accuracy: float
    loss: float

    def __str__(self) -> str:
        return (
            f"accuracy {self.accuracy:.3f}, loss {self.loss:.4g} on {self.samples} samples "
            f"of {self.tokens:g} tokens"
        )


@dataclass(frozen=True)
class Savings:
    """What a forward pass on the kept tokens alone costs, against one on all of them."""

    tokens: float
    """Kept tokens over all tokens."""
    seconds: float
    """Measured time of a pass over the samples, over that with all tokens (median of five)."""
    multiplications: float
    """Arithmetic of a pass as the compiler counts it, over that with all tokens."""
    accuracy_before: float
    accuracy_after: float

    def __str__(self) -> str:
        return (
            f"tokens {1 - self.tokens:.0%} fewer, arithmetic {1 - self.multiplications:.0%} less, "
            f"measured time {1 - self.seconds:.0%} less; accuracy {self.accuracy_before:.3f} -> "
            f"{self.accuracy_after:.3f}"
        )


@dataclass(frozen=True, repr=False)
class Run:
    """A training run of this process. It is no record: it agrees with one up to rounding.

    `series` holds every recorded array with the records first, at the steps or times `at`.
    """

    model: Any
    settings: Mapping[str, SettingValue]
    at: np.ndarray
    series: Mapping[str, np.ndarray]
    ending: str
    """Why it ended, in a sentence."""
    axis: str = "step"
    title: str = "own data"
    engine: str = ""
    loss: str = "logistic"
    score_gain: float = 1.0
    """0 where the attention is uniform."""
    roles: tuple[str, ...] = ()
    weights: Weights | None = None
    """The last weights; `parameters` says why there are none."""
    no_weights: str = ""
    batch: Batch | None = None
    test: Batch | None = None
    diverged: bool = False
    seconds: float = 0.0
    scalars: Mapping[str, Any] = field(default_factory=dict)
    """Numbers of a run as its study records them, where the paper offers no more."""

    # --- weights and what they do ---

    @property
    def parameters(self) -> Weights:
        """The last weights: `.trained` and `.fixed`, arrays of numpy."""
        if self.weights is None:
            raise BadInput(self.no_weights or "this run keeps no weights")
        return self.weights

    @in_double
    def attention(self, samples: "Batch | ArrayLike | None" = None) -> np.ndarray:
        """(n, heads, L, L): what each query place pays to each key place, by sample and head."""
        batch = self._batch(samples)
        maps = self.model.attention(
            self.parameters, batch.vectors(self._dtype), batch.kept, self.score_gain
        )
        return np.asarray(maps)

    @in_double
    def outputs(self, samples: "Batch | ArrayLike | None" = None) -> np.ndarray:
        """The network's output on every sample; its sign is the predicted label."""
        return np.asarray(_outputs(self, self._batch(samples)))

    def predict(self, samples: "Batch | ArrayLike | None" = None) -> np.ndarray:
        """-1 or +1 for every sample of a batch or an array (n, L, d), or of words (n, L)."""
        return np.where(self.outputs(samples) > 0, 1, -1)

    def score(
        self, samples: "Batch | ArrayLike | None" = None, labels: ArrayLike | None = None
    ) -> Score:
        """Accuracy and loss on a batch, or on arrays and their labels."""
        if labels is not None:
            samples = Batch.of(samples, labels)  # pyright: ignore[reportArgumentType]
        batch = self._batch(samples)
        if labels is None and not isinstance(samples, Batch | None):
            raise BadInput("got samples without labels; give score(X, y), or a Batch")
        y, kept = np.asarray(batch.labels), np.asarray(batch.kept)
        F = self.outputs(batch)
        with jax.enable_x64(True):
            loss = float(LOSSES[self.loss].value(jnp.asarray(y * F)).mean())
        right = float(np.mean(np.where(F > 0, 1, -1) == y))
        return Score(len(y), float(kept.sum(1).mean()), right, loss)

    @in_double
    def savings(self, pruned: Batch, whole: Batch | None = None) -> Savings:
        """What the tokens that `select_tokens` kept save: tokens, arithmetic and measured time.

        The tokens that were removed are left out of the arrays, not masked. `whole` is the batch
        before (default: the same samples with every token).
        """
        if whole is None:
            whole = dataclasses.replace(pruned, kept=jnp.ones_like(pruned.kept))
        before, after = self.score(whole), self.score(pruned)
        cost_before, seconds_before = _cost(self, whole)
        cost_after, seconds_after = _cost(self, pruned)
        return Savings(
            after.tokens / before.tokens,
            seconds_after / seconds_before,
            cost_after / cost_before if cost_before else float("nan"),
            before.accuracy,
            after.accuracy,
        )

    @property
    def _dtype(self) -> np.dtype:
        return np.asarray(jax.tree.leaves(self.parameters.trained)[0]).dtype

    def _batch(self, samples: "Batch | ArrayLike | None") -> Batch:
        if samples is None:
            if self.batch is None:
                raise BadInput("a loaded run has no samples of its own; give a batch or an array")
            return self.batch
        if isinstance(samples, Batch):
            self._require_like(samples)
            return samples
        X = np.asarray(samples)
        if X.ndim == 0:
            raise BadInput(f"got {samples!r}; give a batch, or an array of samples")
        vocabulary = self._dimension if X.ndim == 2 else None
        batch = Batch.of(X, np.ones(len(X), int), vocabulary=vocabulary)
        self._require_like(batch)
        return batch

    @property
    def _dimension(self) -> int:
        trained = self.parameters.trained
        return np.shape(trained.W if isinstance(self.model, MultiHead) else trained.W_K)[-1]

    def _require_like(self, batch: Batch) -> None:
        L = _places(self.model, self.parameters)
        if batch.dimension != self._dimension or (L is not None and batch.kept.shape[1] != L):
            places = "any number of tokens" if L is None else f"{L} tokens"
            raise BadInput(
                f"got samples of {batch.kept.shape[1]} tokens in R^{batch.dimension}; this model "
                f"was trained on {places} in R^{self._dimension}"
            )

    # --- tables and pictures ---

    def to_pandas(self) -> "pd.DataFrame":
        """A row for each record, a column for each number."""
        return tables.to_pandas(self.axis, self.at, self.series, self.roles)

    def to_xarray(self) -> "xr.Dataset":
        """A variable for each series, with named dimensions and units; settings as attributes."""
        plain = {k: int(v) if isinstance(v, bool) else v for k, v in self.settings.items()}
        about = {"title": self.title, "engine": self.engine, "ending": self.ending}
        return tables.to_xarray(self.axis, self.at, self.series, self.roles, {**about, **plain})

    def plot(self) -> "Figure":
        """The losses, and where the attention goes if that was recorded."""
        from attnlab.facade.pictures import draw

        return draw(self)

    def save(self, path: str | Path) -> Path:
        """Write weights, series and settings to a safetensors file, which `load` reads."""
        from attnlab.facade.saving import save

        return save(self, path)

    def __repr__(self) -> str:
        last = {k: f"{x[-1]:.4g}" for k, x in self.series.items() if x.ndim == 1 and len(x)}
        ends = ", ".join(f"{name} {value}" for name, value in last.items())
        engine = f" by the engine {self.engine}" if self.engine else ""
        return f"Run of {self.title}{engine}: {self.ending}; {ends or 'no series'}"

    def _repr_html_(self) -> str:
        rows: dict[str, object] = {"engine": self.engine, "ended": self.ending}
        rows |= {k: f"{x[-1]:.4g}" for k, x in self.series.items() if x.ndim == 1 and len(x)}
        rows |= {"seconds": f"{self.seconds:.1f}"}
        rows |= dict(self.settings)
        return rows_as_html(f"Run of {self.title}", rows)


# --- the forward pass on packed tokens --------------------------------------------------------


def _places(model: Any, weights: Weights) -> int | None:
    """How many places the weights are made for; None if any number will do."""
    if isinstance(model, ShallowViT):
        return np.shape(weights.fixed)[1]
    if isinstance(model, MultiHead) and model.output == "full":
        return np.shape(weights.trained.U)[1]
    return None


def at_places(model: Any, weights: Weights, places: jax.Array) -> Weights:
    """The weights for a sample that has its tokens from these places only, in this order."""
    if isinstance(model, ShallowViT):
        return Weights(weights.trained, weights.fixed[:, places])
    if isinstance(model, MultiHead) and model.output == "full":
        return Weights(weights.trained._replace(U=weights.trained.U[:, places]), weights.fixed)
    return weights


def packed(batch: Batch) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Kept tokens first, as long as the longest sample: their places, vectors, and which are."""
    kept = np.asarray(batch.kept)
    room = int(kept.sum(1).max())
    places = jnp.asarray(np.argsort(~kept, axis=1, kind="stable")[:, :room])
    seen = jnp.take_along_axis(batch.kept, places, axis=1)
    X = jnp.take_along_axis(batch.vectors(), places[..., None], axis=1)
    return places, X, seen


def packed_outputs(
    model: Any, weights: Weights, places: jax.Array, X: jax.Array, kept: jax.Array, gain: jax.Array
) -> jax.Array:
    """The outputs on packed tokens: what the network pays for without those that were removed."""

    def one(row: tuple[jax.Array, jax.Array, jax.Array]) -> jax.Array:
        place, x, seen = row
        return model.apply(at_places(model, weights, place), x[None], seen[None], gain)[0]

    return jax.lax.map(one, (places, X, kept), batch_size=16)


def _outputs(run: Run, batch: Batch) -> PyTree:
    X = batch.vectors(run._dtype)
    return run.model.apply(run.parameters, X, batch.kept, run.score_gain)


def _cost(run: Run, batch: Batch) -> tuple[float, float]:
    """Arithmetic of a pass as the compiler counts it, and its measured seconds."""
    places, X, kept = packed(batch)
    weights = jax.tree.map(jnp.asarray, run.parameters)
    gain = jnp.asarray(run.score_gain, run._dtype)
    arguments = (weights, places, X.astype(run._dtype), kept, gain)
    program = jax.jit(lambda *given: packed_outputs(run.model, *given)).lower(*arguments).compile()
    one = (places[:1], X[:1].astype(run._dtype), kept[:1])
    single = jax.jit(lambda *given: packed_outputs(run.model, *given))
    counted = single.lower(weights, *one, gain).compile().cost_analysis() or {}
    program(*arguments).block_until_ready()
    times = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        program(*arguments).block_until_ready()
        times.append(time.perf_counter() - begun)
    return float(counted.get("flops", 0.0)), float(np.median(times))
