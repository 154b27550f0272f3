"""Optimisers by name: plain descent, and any optax rule that takes a learning rate.

| name | rule |
|---|---|
| sgd | plain descent, by the engine's own step, exact for reduced engines too |
| momentum | descent with momentum 0.9 |
| adam, adamw, sign_sgd, ... | optax's rule of that name with its defaults |

A rule of your own is an entry of `RULES`: a function of a learning rate (and of more, by name) that
returns an optax transformation.

    RULES["clipped"] = lambda learning_rate: optax.chain(
        optax.clip_by_global_norm(1.0), optax.sgd(learning_rate)
    )

or `module:name` of such a function, which settings take too (`attnlab.tables`).
"""

from collections.abc import Callable
from functools import partial

import optax
from jaxtyping import Array

from attnlab.tables import entry
from attnlab.training.updates import OptaxStep, PlainStep, Update

MOMENTUM = 0.9
Rule = Callable[..., optax.GradientTransformation]

OF_OPTAX = (
    "adam", "adamw", "adagrad", "adabelief", "adamax", "amsgrad", "nadam", "radam", "rmsprop",
    "lion", "lamb", "yogi", "novograd", "sign_sgd",
)  # fmt: skip


def _decayed(rule: Rule, learning_rate: Array, weight_decay: Array, **more: Array):
    return optax.chain(
        optax.add_decayed_weights(weight_decay),  # pyright: ignore[reportArgumentType]
        rule(learning_rate=learning_rate, **more),
    )


RULES: dict[str, Rule] = {
    "sgd": optax.sgd,
    "momentum": optax.sgd,
    "decayed_sgd": partial(_decayed, optax.sgd),
    **{name: getattr(optax, name) for name in OF_OPTAX},
}
"""Every optimiser by name."""
DEFAULTS: dict[str, dict[str, float]] = {"momentum": {"momentum": MOMENTUM}}


def optimiser(name: str, learning_rate: float | Array, **hyperparameters: float | Array) -> Update:
    """The rule of this name as an `Update`; a learning rate is data and costs no compilation."""
    rule = entry(RULES, name, "optimiser")
    if name == "sgd" and not hyperparameters:
        return PlainStep(learning_rate)
    given = {"learning_rate": learning_rate, **DEFAULTS.get(name, {}), **hyperparameters}
    return OptaxStep(rule, given)
