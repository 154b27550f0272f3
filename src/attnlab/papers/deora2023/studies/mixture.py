"""Studies of the mixture and of what phase 1 makes of it: no training."""

from dataclasses import replace
from typing import get_args

from attnlab.papers.deora2023.settings import (
    ExpressivitySettings,
    ImpossibilitySettings,
    InitialisationSettings,
    MixtureSettings,
    Noise,
)
from attnlab.papers.deora2023.studies.common import NOISE, shapes, study, tokens

KINDS: tuple[Noise, ...] = get_args(Noise)
DATA = tuple(
    MixtureSettings(noise=kind, zeta=zeta, **NOISE) for kind in KINDS for zeta in (0.25, 0.5)
)
FIRST = tuple(
    MixtureSettings(n1=n1, n=1, noise="uniform", **NOISE) for n1 in (32, 100, 320, 1000, 3200)
)
ATTEND_NOISE: tuple[tuple[Noise, float], ...] = (("extreme", 0.1), ("uniform", 0.05))
ATTEND = tuple(
    ExpressivitySettings(S=S, zeta=zeta, noise=kind, Z_mu=z * S**2, Z_nu=z * S**2, Z=0.5 * S)
    for S in (0.25, 0.5, 1.0, 2.0, 4.0)
    for zeta in (0.25, 0.5)
    for kind, z in ATTEND_NOISE
)
EXACT_START = InitialisationSettings(points="atoms", n1=0)
NOISY_START = InitialisationSettings(n=48, **NOISE)
GOOD = (
    *(replace(EXACT_START, S=S, H=1e12) for S in (0.5, 1.0, 2.0, 4.0)),
    *(replace(EXACT_START, points="samples", zeta=zeta, H=1e12) for zeta in (0.25, 0.75)),
    replace(NOISY_START, H=1e12),
    replace(NOISY_START, H=1e12, noise="extreme"),
    replace(NOISY_START, H=1e12, noise="extreme", n1=0, Z_mu=0.02, Z_nu=0.02),
)
ORDER = tuple(
    MixtureSettings(T=10, d=8, M=4, S=S, zeta=zeta, Z_mu=0.02, Z_nu=0.02, Z=0.2, n=1)
    for S in (0.5, 1.0, 2.0, 4.0)
    for zeta in (0.1, 0.3, 0.5, 0.7, 0.9)
)
CLEAN = InitialisationSettings(n=192, n1=0)
PLACES = tuple(replace(CLEAN, S=S) for S in (0.5, 1.0, 2.0))
RANDOM = tuple(
    replace(NOISY_START, start="random", H=H, scale=scale)
    for H in (4.0, 16.0, 64.0)
    for scale in (0.3, 1.0)
)
SCALINGS = tuple(
    ImpossibilitySettings(n=n, c=c) for n in (3.0, 100.0, 1e6) for c in (0.25, 0.5, 1.0, 2.0)
)

STUDIES = (
    study(
        "data",
        "the sizes of drawn tokens against Assumption 3, by kind of noise",
        MixtureSettings,
        "mixture_runs:describe_data",
        (DATA, 3),
        (DATA, 20),
        (DATA, 200),
        program=tokens,
    ),
    study(
        "first_phase",
        "one step from zero, over the samples that it sees",
        MixtureSettings,
        "mixture_runs:first_step",
        (FIRST, 10),
        (FIRST, 60),
        (FIRST, 400),
        program=tokens,
    ),
    study(
        "attention",
        "attention with Proposition 3's weights on drawn samples, over S, zeta and noise",
        ExpressivitySettings,
        "mixture_runs:attend",
        (ATTEND, 1),
        (ATTEND, 5),
        (ATTEND, 50),
        program=tokens,
    ),
    study(
        "good_start",
        "P1-P3 after phase 1, the margins there, and a target of small loss",
        InitialisationSettings,
        "start_runs:good_start",
        (GOOD, 4),
        (GOOD, 20),
        (GOOD, 100),
        program=shapes,
        seconds=0.1,
    ),
    study(
        "places",
        "linear margins without noise, relevant places random or fixed",
        InitialisationSettings,
        "start_runs:linear_model",
        (PLACES, 3),
        (PLACES, 10),
        (PLACES, 50),
        program=tokens,
    ),
    study(
        "margin_formulas",
        "gamma_lin, gamma_* and gamma_attn as formulas, over S and zeta",
        MixtureSettings,
        "mixture_runs:compare_margins",
        (ORDER, 1),
        (ORDER, 1),
        (ORDER, 1),
        program=lambda cell: 0,
    ),
    study(
        "random_start",
        "the largest NTK margin of random heads, over their number and size",
        InitialisationSettings,
        "start_runs:random_start",
        (RANDOM, 3),
        (RANDOM, 10),
        (RANDOM, 60),
        program=shapes,
    ),
    study(
        "scalings",
        "section 5.3: a search for a scaling under which Proposition 3 is a target",
        ImpossibilitySettings,
        "mixture_runs:search_scaling",
        (SCALINGS, 1),
        (SCALINGS, 1),
        (SCALINGS, 1),
        program=lambda cell: 0,
    ),
)
