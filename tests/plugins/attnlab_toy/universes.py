"""Statements over choices that the toy paper leaves open: true at all levels, some, none."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from attnlab.claims import Claim, Control, Effect, Finding, Part, Route, Source
from attnlab.core import Design, Key, Records, Result, Study, setting
from attnlab.evidence.intervals import mean_interval
from attnlab.evidence.laws import AtMost, stored
from attnlab.evidence.statement import statement

VALUE = stored("value", "the value")
NOISY = stored("noisy", "the noisy value")


@dataclass(frozen=True)
class OpenSettings:
    """A value that follows the step, and two choices that its mean does not depend on."""

    step: float = setting(
        0.5,
        origin="ours",
        help="the mean of the value",
        alternatives={0.2: "a small one", 1.0: "a large one"},
    )
    order: Literal["shuffled", "fixed"] = setting(
        "shuffled", origin="inferred", help="of no account", alternatives={"fixed": "as good"}
    )
    batch: int = setting(20, origin="ours", help="of no account", alternatives={5: "as good"})


def run(cell: OpenSettings, key: Key) -> Result:
    """Draw the values."""
    draw = np.random.default_rng(key.words("open"))
    size = (20 / cell.batch) ** 0.25 * (1.0 if cell.order == "shuffled" else -1.0)
    return Result(
        {
            "value": cell.step + 0.1 * size * draw.normal(),
            "noisy": cell.step + 30 * size * draw.normal(),
        }
    )


OPEN = Study(
    id="toy.open",
    summary="a value that follows a setting which the paper leaves open",
    settings=OpenSettings,
    run="attnlab_toy.universes:run",
    designs={
        "smoke": Design((OpenSettings(),), 8),
        "quick": Design((OpenSettings(),), 16),
        "paper": Design((OpenSettings(),), 80),
    },
    cost=lambda cell: 0.02,
)


def _again(records: Records) -> Finding:
    """The mean by a plain loop, against the same bound."""
    values = [float(r["value"]) for r in records]
    found = mean_interval(values)
    effect = Effect.of("mean of the value", found)
    return Finding("contradicted" if found.low > -1 else "inconclusive", effect)


def _remark(name: str, title: str, most: float, noisy: bool = False, **more) -> Claim:
    return statement(
        f"toy.{name}",
        "remark",
        title=title,
        statement=f"The value is at most {most:g} on average.",
        source=Source("4"),
        stated=f"at most {most:g}",
        measured="The mean over runs.",
        parts=(Part("value", "open", NOISY if noisy else VALUE, AtMost(most, "mean")),),
        controls=(
            Control("far less", "at most -1000", "value", law=AtMost(-1000.0, "mean")),
            Control("a large step", "the step is 10^6", "value", changes={"step": 1e6}),
        ),
        **more,
    )


OPEN_CLAIMS = (
    _remark("remark_2", "True at every level of what is left open", 2.0),
    _remark("remark_3", "True at some levels of the step only", 0.75),
    _remark("remark_4", "True at no level", -1.0, routes=(Route("plain loop", compute=_again),)),
    _remark("remark_5", "Too noisy to tell at any level", 0.75, noisy=True),
)
