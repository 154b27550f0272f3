r"""Scalars of the second phase, and of the whole run where a claim on it needs them.

Legend: $\rho=|W^Ta|^2$; $G(\mu)=a^TWW_V\mu$; $F_i$ the output on sample i; $g_i$ its loss
derivative; C the coefficients of equation (3). "Largest" and "least" are over the window of
phase 2 and over everything that the name does not fix. A run without a second phase has none.
"""

import math

import numpy as np

from attnlab.claims import Scalar
from attnlab.core import Record
from attnlab.evidence.laws import stored
from attnlab.papers.yang2024.runs.summaries.phase_2 import PAIRS, PREFIX
from attnlab.papers.yang2024.scalars.phase_1 import defined_end
from attnlab.papers.yang2024.theory.conditions import DEFINITION_F1


def late(key: str, words: str) -> Scalar:
    """A stored scalar of the window of phase 2."""
    return stored(PREFIX + key, words)


# --- Theorem 3.2 ------------------------------------------------------------------------------


def conditions(record: Record, common_output: int = -1) -> dict[str, np.ndarray]:
    """Whether each part of Theorem 3.2 holds at each record; a trend does if the next step does.

    `common_output` is the sign of G(mu_3).
    """
    S, V, G = record["scores"], record["value_correlations"], record["signal_outputs"]

    def goes(sign: int, *series: np.ndarray) -> np.ndarray:
        steps = [np.diff(x) for x in series]
        return np.all([np.append(sign * x > 0, sign * x[-1] > 0) for x in steps], axis=0)

    G1, G2, G3 = G.T
    return {
        "scores between the signals rise": goes(1, S[:, 1, 0], S[:, 0, 1]),
        "scores of the common token fall": goes(-1, S[:, 2, 0], S[:, 2, 1]),
        "values of the signals correlate more": goes(1, V[:, 0, 1]),
        "values of signal and common token less": goes(-1, V[:, 0, 2], V[:, 1, 2]),
        "outputs have their signs": (G1 > 0) & (G2 > 0) & (common_output * G3 > 0),
        "margins without random words": (G1 + G2 + G3 > 0) & (G1 + G3 < 0) & (G2 + G3 < 0),
    }


def begin(held: np.ndarray, times: np.ndarray) -> float:
    """The time from which something holds until the end of the run; nan if it does not."""
    bad = np.flatnonzero(~held)
    first = int(bad[-1]) + 1 if bad.size else 0
    return float(times[first]) if first < len(times) else math.nan


def start(record: Record, common_output: int = -1) -> float:
    """The time from which all parts of Theorem 3.2 hold until the end of the run."""
    held = np.all(list(conditions(record, common_output).values()), axis=0)
    return begin(held, record["times"])


def duration(common_output: int = -1) -> Scalar:
    """How long all parts hold: the end of the run over the time from which they do."""
    return Scalar(
        "end of the run over the time from which all parts hold",
        lambda record: float(record["times"][-1]) / start(record, common_output),
    )


def start_over(detection: str) -> Scalar:
    """The time from which all parts hold, over the first record after a detected T1."""

    def ratio(record: Record) -> float:
        times = record["times"]
        later = times[times > float(record[f"T1_{detection}"])]
        return start(record) / float(later[0]) if later.size else math.nan

    return Scalar("time from which all parts hold over the detected T1", ratio)


def _over_defined(record: Record) -> float:
    times = record["times"]
    later = times[times >= defined_end(record)]
    return start(record) / float(later[0]) if later.size else math.nan


START_OVER_DEFINED = Scalar("time from which all parts hold over T1 as defined", _over_defined)
START_IN_RHO = Scalar("rho(0) t from which all parts hold", lambda r: start(r) * r["rho"][0])

# --- Definition F.1 ---------------------------------------------------------------------------

BEGIN = late("begin", "time at which phase 2 begins")
EXACT_CONDITIONS = stored(
    "exact_conditions_over_T1", "time from which the exact conditions hold over T1"
)
NEEDED = {
    c.name: late(f"constant_of_{c.name}", f"{c.quantity} over {c.formula}") for c in DEFINITION_F1
}
"""By condition of Definition F.1 the constant with which it holds over the whole window."""
FIRST_FAILS = {
    c.name: late(f"violation_of_{c.name}", f"rho(0) t at which {c.quantity} passes {c.formula}")
    for c in DEFINITION_F1
}

# --- balance of gradients ---------------------------------------------------------------------

IMBALANCE = late("imbalance_2_3", "relative difference of the types with one signal")
IMBALANCE_1_2 = late("imbalance_1_2", "relative difference of types 1 and 2")
GAP_RATIO = late("largest_gap_ratio", "sum of all derivatives over the smallest gap")
RATE_RATIO = late("signal_rate_ratio", "ratio of the two signals' rates")
BAND = late("band_constant", "the band's C")
C_OVER_A = late("c_over_a", "c/a of the quadratic")
LEAST_ROOT = late("least_root", "least root of the quadratic")
LARGEST_ROOT = late("largest_root", "largest root of the quadratic")
CONTRACTION = late("contraction", "share of steps in which R goes towards the root")
DISTANCE = late("distance_to_root", "distance of the last R to the root")
DISTANCE_WITH_RANDOM_WORDS = late(
    "distance_to_root_with_random_words", "distance of the last R to the root with random words"
)
SPREAD = late("gradient_spread", "largest over smallest derivative of a type")

# --- outputs ----------------------------------------------------------------------------------

OUTPUT_RATIO = late("output_ratio", "largest ratio of two signals' outputs")
OUTPUT_RATIO_IN_TIME = late("output_ratio_time_exponent", "exponent of that ratio in time")
RANDOM_RATE = late("random_rate_constant", "rate of a random word's output over its bound")
RANDOM_OUTPUT = late("random_output_constant", "change of a random word's G times n / log(rho t)")
RANDOM_SUM = late("random_sum_end", "random words' part of an output at the end")
RANDOM_SUM_SLOPE = late("random_sum_log_slope", "slope in log t of the random words' part")
RANDOM_SUM_OVER_LIMIT = late(
    "random_sum_slope_over_limit", "slope of the random words' part over the limit's"
)
VALUES_BETWEEN_SIGNALS = late(
    "least_value_rate_between_signals", "least rate of the signals' value correlations over loss"
)
VALUES_TO_COMMON = late(
    "largest_value_rate_to_common", "largest rate of signal and common token's values over loss"
)
VALUE_PART = late("value_part", "L times the neurons' part of G'")

# --- loss, rho and values ---------------------------------------------------------------------

LOSS_SLOPE = late("loss_slope", "slope of 1/loss")
LEAST_LOSS_SLOPE = late("least_loss_slope", "least slope of 1/loss over s1^2 m m1")
LARGEST_LOSS_SLOPE = late("largest_loss_slope", "largest slope of 1/loss over s1^2 m m1")
LOSS_SLOPE_IN_TIME = late("loss_slope_time_exponent", "exponent in time of the slope of 1/loss")
LOSS_OVER = {
    "limit": late("loss_slope_over_limit", "slope of 1/loss over the duals'"),
    "twice n": late("loss_slope_over_twice_n", "slope of 1/loss over that of twice the samples"),
    "many": late("loss_slope_over_many_samples", "slope of 1/loss over that of many samples"),
}
R_OVER = {
    "limit": late("R_over_limit", "R over the duals'"),
    "twice n": late("R_over_twice_n", "R over that of twice the samples"),
    "many": late("R_over_many_samples", "R over that of many samples"),
}
RHO_GROWTH = late("rho_growth", "growth of rho")
RHO = late("rho_over_neuron_rate", "rho over s1^2 m m1")
RHO_OVER_INTEGRAL = late("rho_growth_over_integral", "growth of rho over its integrated rate")
RHO_RATE_ERROR = stored("rho_rate_error", "relative error of the printed rate of rho")
LEAST_RHO_RATE = stored("least_rho_rate_once_correct", "least rate of rho once all are correct")
VALUE_GROWTH = late("value_growth", "largest change of a value correlation")
VALUES_OVER_INTEGRAL = late(
    "value_growth_over_integral", "growth of the signals' value correlation over its integral"
)


def _rate_error_without_factor(record: Record) -> float:
    printed = record.cell.m1 * np.asarray(record["mean_weighted_margin"])
    return float(np.abs(record["rho_rate"] - printed).max() / (2 * np.abs(printed).max()))


RHO_RATE_ERROR_WITHOUT_FACTOR = Scalar(
    "relative error of half the printed rate", _rate_error_without_factor
)
LEAST_RHO_RATE_EVER = Scalar("least rate of rho", lambda r: float(np.min(r["rho_rate"])))
END_TIME = stored("end_time_in_rho", "rho(0) t at which the loss is 1e-6")

# --- attention --------------------------------------------------------------------------------

KEY_GROWTH = late("key_growth", "largest change of a correlation of keys")
QUERY_GROWTH = late("query_growth", "largest change of a correlation of queries")
LEAST_SCORE_RATE = late("least_score_rate", "least signed rate of the four scores over its size")
LARGEST_SCORE_RATE = late("largest_score_rate", "largest rate of the four scores over its size")
SCORE_RATE_IN_TIME = late("score_rate_time_exponent", "exponent in time of the scores' rates")
RANDOM_SCORE_RATE = late("random_score_rate", "score rate with a random word over its size")
LEAST_SOFTMAX_RATE = late("least_softmax_rate", "least signed softmax rate over its size")
LARGEST_SOFTMAX_RATE = late("largest_softmax_rate", "largest softmax rate over its size")
RANDOM_SOFTMAX_RATE = late("random_softmax_rate", "softmax rate on a random word over its size")
SOFTMAX_CHANGE = late("softmax_change", "L^2 times the largest change of softmax")
ATTENTION_PART = late("attention_part", "attention's part of F'")
LEAST_C = late("least_coefficient", "least signed C of the signals over its size")
LARGEST_C = late("largest_coefficient", "largest C of the signals over its size")
RANDOM_C = late("random_coefficient", "largest C with a random word over its size")
C_RATIO = late("coefficient_ratio", "least C of the signals over the largest with a random word")
C_RATIO_OVER_GUARANTEE = late(
    "coefficient_ratio_over_guarantee", "ratio of the C over min(n, sqrt(m)/L)"
)

# --- the last record, for the trends of our figures -------------------------------------------

LATE_OVER_LARGER = stored("late_over_larger_rate", "-G3' over the larger of G1', G2'")
LATE_OVER_SUM = stored("late_over_sum_of_rates", "-G3' over G1' + G2'")
LATE_TYPES = stored("late_types_2_over_3", "derivatives of type 2 over type 3")
LATE_R = stored("late_R_over_limit", "R over its limit")
LATE_LOSS = stored("late_loss_over_limit", "loss x rate x time over its limit")
LATE_C_RATIO = stored("late_coefficient_ratio", "least C of signals over the largest of the others")
T1 = stored("T1_every_sample", "T1")

# --- quotients along paths, where every size varies -------------------------------------------

BEGIN_IN_UNITS = late("begin_in_units", "time at which phase 2 begins times s1^2 m m1")
RHO_GROWTH_OVER_SIZE = late("rho_growth_over_size", "growth of rho over m1/m")
RHO_GROWTH_OVER_BOUND = late("rho_growth_over_bound", "growth of rho over log^2 m/(s1^2 m)")
VALUE_GROWTH_OVER_BOUND = late(
    "value_growth_over_bound", "change of a value correlation over log^2 m/(s1^2 m m1)"
)
RANDOM_SCORE_OVER_BOUND = late(
    "random_score_over_bound", "score rate with a random word over its bound"
)
RANDOM_SOFTMAX_OVER_BOUND = late(
    "random_softmax_over_bound", "softmax rate on a random word over its bound"
)
RANDOM_C_OVER_BOUND = late(
    "random_coefficient_over_bound", "largest C with a random word over its bound"
)
RANDOM_CHANGE_OVER_BOUND = late(
    "random_change_over_bound", "change of a random word's output over its bound"
)
TIME_EXPONENT = late("end_time_exponent", "log of the time in 1/rho(0) over log m")
WORST_TEST_LOSS = late("worst_test_loss", "loss of the worst new sample")
TEST_LOSS = stored("test_loss_end", "test loss")
LOSS = stored("loss_end", "training loss")
SOFTMAX_OVER_PRINTED = late(
    "softmax_over_printed", "least signed softmax rate over its printed size"
)
SIGNAL_END = late("largest_signal", "largest output of a signal at the end")
MOVED_SCORE = Scalar(
    "least signed change of the four scores since the start",
    lambda r: min(sign * float(r["scores"][-1][key, query]) for key, query, sign in PAIRS),
)
