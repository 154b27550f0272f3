"""What is read off an engine while it trains: `(t, view, args) -> named arrays`.

`attnlab.probes.attention_by_role` and the other probes of `general` serve every model on every
batch; the modules beside it hold those of one model.
"""

from typing import TYPE_CHECKING, Any

GENERAL = ("attention_by_role", "effective_tokens", "margins", "test_samples")

if TYPE_CHECKING:
    from attnlab.probes.general import attention_by_role as attention_by_role
    from attnlab.probes.general import effective_tokens as effective_tokens
    from attnlab.probes.general import margins as margins
    from attnlab.probes.general import test_samples as test_samples


def __getattr__(name: str) -> Any:  # a probe: jax is not imported before somebody wants one
    if name not in GENERAL:
        raise AttributeError(f"attnlab.probes has no probe {name!r}; there are: {GENERAL}")
    from attnlab.probes import general

    return getattr(general, name)


def __dir__() -> list[str]:
    return [*globals(), *GENERAL]
