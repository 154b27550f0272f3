"""The trends that our own figures show, each under its figure's id."""

from dataclasses import replace

import numpy as np

from attnlab.core import Control
from attnlab.papers.yang2024.claims.builders import (
    ExponentLaw,
    RangeLaw,
    exponent_claim,
    range_claim,
)
from attnlab.papers.yang2024.claims.common import FROZEN, SHUFFLED

INFINITE = np.inf
BAND = RangeLaw((("late_over_larger_rate", 1.0, INFINITE), ("late_over_sum_of_rates", 0.0, 1.0)))
BALANCE = RangeLaw((("late_types_2_over_3", 0.5, 2.0), ("late_R_over_limit", 0.95, 1.05)))
LOSS = RangeLaw((("late_loss_over_limit", 0.95, 1.05),), probability=0.8, widest=True)
COEFFICIENTS = RangeLaw((("late_coefficient_ratio", 1.0, INFINITE),))

TRENDS = (
    range_claim(
        "phase_portrait",
        study="phase_2",
        law=BAND,
        controls=(
            SHUFFLED,
            Control(
                "above the sum",
                "the common token faster than both signals together",
                law=replace(BAND, ranges=(("late_over_sum_of_rates", 1.0, INFINITE),)),
            ),
        ),
        positive={"late_over_larger_rate": 1.3, "late_over_sum_of_rates": 0.65},
        title="Late in training the common token's rate is within the band",
        statement=(
            "At a loss of 1e-6 the output of the common token falls faster than either signal's "
            "rises and slower than both together."
        ),
        measured="The share of runs with both ratios on their side of 1: supported above 0.9.",
    ),
    range_claim(
        "gradient_balance",
        study="phase_2",
        law=BALANCE,
        controls=(
            SHUFFLED,
            Control(
                "many samples",
                "R of the limit of many samples, 3/2, taken 1.2 times the small set's",
                law=replace(BALANCE, ranges=(("late_R_over_limit", 1.15, 1.25),)),
            ),
        ),
        positive={"late_types_2_over_3": 1.0, "late_R_over_limit": 1.0},
        title="Gradients balance, at the ratio of the max-margin duals",
        statement=(
            "At a loss of 1e-6 the types with one signal have loss derivatives within a factor of "
            "2 of each other, and R is within 5 % of its limit of infinite width and time."
        ),
        measured="The share of runs in which both hold: supported above 0.9.",
    ),
    range_claim(
        "loss_rate",
        study="phase_2",
        law=LOSS,
        controls=(
            SHUFFLED,
            Control(
                "twice the constant",
                "a loss twice as large",
                law=replace(LOSS, ranges=(("late_loss_over_limit", 1.9, 2.1),)),
            ),
        ),
        positive={"late_loss_over_limit": 1.0},
        title="The loss falls like the limit's constant over time",
        statement=(
            "At a loss of 1e-6 and the largest width, loss x rate x time is within 5 % of the "
            "limit of infinite width."
        ),
        measured="The share of runs of the largest width in which it is: supported above 0.8.",
    ),
    range_claim(
        "coefficients",
        study="phase_2",
        law=COEFFICIENTS,
        controls=(
            FROZEN,
            SHUFFLED,
            Control(
                "a hundredfold",
                "signals ahead by a factor of 100",
                law=replace(COEFFICIENTS, ranges=(("late_coefficient_ratio", 100.0, INFINITE),)),
            ),
        ),
        positive={"late_coefficient_ratio": 3.0},
        title="Signals have larger attention coefficients than random words",
        statement=(
            "At a loss of 1e-6 each of C12, C21, -C31, -C32 is larger than every coefficient of a "
            "pair with a random word."
        ),
        measured="The share of runs in which the smallest exceeds the largest: above 0.9.",
    ),
    exponent_claim(
        "scaling",
        study="phase_1",
        law=ExponentLaw("T1_every_sample", "m", -1.0),
        wrong=(-1.5, -0.5),
        levels=(2**9, 2**11, 2**13, 2**15),
        title="The first phase lasts 1/m",
        statement="T1 falls like one over the width.",
        measured="The exponent of T1 in m: -1 within 0.1.",
    ),
)
