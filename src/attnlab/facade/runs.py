"""A run that was made in this process: its settings, weights and series, and what to do with it."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from attnlab.cells import SettingValue
from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.data.images import class_batch
from attnlab.facade import passes, refusals
from attnlab.facade import series as tables
from attnlab.facade.precision import in_double
from attnlab.facade.showing import rows_as_html
from attnlab.models.protocol import Weights
from attnlab.probes.samples import losses_of
from attnlab.training.losses import LOSSES

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure


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

    def _repr_html_(self) -> str:
        return rows_as_html("Score", dataclasses.asdict(self))


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

    def _repr_html_(self) -> str:
        return rows_as_html("Savings", dataclasses.asdict(self))


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
        X, where = batch.vectors(self._dtype), passes.where_of(self.model, batch)
        maps = self.model.attention(self.parameters, X, batch.kept, self.score_gain, **where)
        return np.asarray(maps)

    @in_double
    def outputs(self, samples: "Batch | ArrayLike | None" = None) -> np.ndarray:
        """The network's output on every sample; its sign, or the largest of several, decides."""
        batch = self._batch(samples)
        X, where = batch.vectors(self._dtype), passes.where_of(self.model, batch)
        return np.asarray(
            self.model.apply(self.parameters, X, batch.kept, self.score_gain, **where)
        )

    def predict(self, samples: "Batch | ArrayLike | None" = None) -> np.ndarray:
        """-1 or +1 (or the class) of every sample: a batch, an array (n, L, d), words (n, L)."""
        return _decided(self.outputs(samples))

    def score(
        self, samples: "Batch | ArrayLike | None" = None, labels: ArrayLike | None = None
    ) -> Score:
        """Accuracy and loss on a batch, or on arrays and their labels."""
        if labels is not None:
            read = class_batch if passes.outputs_of(self.model) > 1 else Batch.of
            samples = read(samples, labels)  # pyright: ignore[reportArgumentType]
        batch = self._batch(samples)
        if labels is None and not isinstance(samples, Batch | None):
            raise BadInput("got samples without labels; give score(X, y), or a Batch")
        passes.require_labels(self.model, batch)
        y, kept = np.asarray(batch.labels), np.asarray(batch.kept)
        F = self.outputs(batch)
        with jax.enable_x64(True):
            losses = losses_of(jnp.asarray(F), jnp.asarray(y), LOSSES[self.loss])
            loss = float(losses.mean())
        right = float(np.mean(_decided(F) == y))
        return Score(len(y), float(kept.sum(1).mean()), right, loss)

    @in_double
    def savings(self, pruned: Batch, whole: Batch | None = None) -> Savings:
        """What the tokens that `select_tokens` kept save: tokens, arithmetic and measured time.

        The tokens that were removed are left out of the arrays, not masked. `whole` is the batch
        before (default: the same samples with every token).
        """
        refusals.require_batch(pruned, "pruned")
        if whole is None:
            whole = dataclasses.replace(pruned, kept=jnp.ones_like(pruned.kept))
        before, after = self.score(whole), self.score(pruned)
        given = self.model, self.parameters, self.score_gain, self._dtype
        cost_before, seconds_before = passes.cost(*given, whole)
        cost_after, seconds_after = passes.cost(*given, pruned)
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
            refusals.require_tokens_fit(self.model, self.parameters, samples)
            return samples
        X = np.asarray(samples)
        if X.ndim == 0:
            raise BadInput(f"got {samples!r}; give a batch, or an array of samples")
        vocabulary = passes.dimension(self.model, self.parameters) if X.ndim == 2 else None
        batch = Batch.of(X, np.ones(len(X), int), vocabulary=vocabulary)
        refusals.require_tokens_fit(self.model, self.parameters, batch)
        return batch

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


def _decided(outputs: np.ndarray) -> np.ndarray:
    """-1 or +1 by the sign of one output, the class of the largest of several."""
    return np.where(outputs > 0, 1, -1) if outputs.ndim == 1 else outputs.argmax(1)
