"""Studies of the mixture and of what phase 1 makes of it: no training."""

from dataclasses import replace
from typing import get_args

from attnlab.papers.deora2023.settings.bounds import (
    DemandSettings,
    ImpossibilitySettings,
    SearchSettings,
    Varied,
)
from attnlab.papers.deora2023.settings.mixture import (
    ExpressivitySettings,
    MixtureSettings,
    Noise,
    resolve_first_phase,
)
from attnlab.papers.deora2023.settings.starts import InitialisationSettings, resolve_random
from attnlab.papers.deora2023.studies.common import NOISE_LEVEL, study

WHOLE_POOL = "the whole pool of drawn samples is looked at, and nothing is learnt"
KINDS: tuple[Noise, ...] = get_args(Noise)
DATA = tuple(
    MixtureSettings(noise=kind, zeta=zeta, **NOISE_LEVEL) for kind in KINDS for zeta in (0.25, 0.5)
)
FIRST = tuple(
    MixtureSettings(n1=n1, n=1, noise="uniform", **NOISE_LEVEL) for n1 in (32, 100, 320, 1000, 3200)
)
ATTEND_NOISE: tuple[tuple[Noise, float], ...] = (("extreme", 0.1), ("uniform", 0.05))
ATTEND = tuple(
    ExpressivitySettings(S=S, zeta=zeta, noise=kind, Z_mu=z * S**2, Z_nu=z * S**2, Z=0.5 * S)
    for S in (0.25, 0.5, 1.0, 2.0, 4.0)
    for zeta in (0.25, 0.5)
    for kind, z in ATTEND_NOISE
)
EXACT_START = InitialisationSettings(points="atoms", n1=0)
NOISY_START = InitialisationSettings(n=48, **NOISE_LEVEL)
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
# Along each size by a factor of ten or so, the others fixed; the predicted numbers span decades.
AXES: dict[Varied, tuple[float, ...]] = {
    "H": (1e18, 1e20, 1e22, 1e24, 1e26, 1e28, 1e30),
    "d": (1e1, 1e2, 1e3, 1e4, 1e5, 1e6),
    "T": (1e1, 1e3, 1e5, 1e7, 1e9, 1e11),
    "R": (1.0, 2.0, 4.0, 8.0, 16.0),
    "gamma": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2),
    "n": (1e2, 1e4, 1e8, 1e16, 1e32, 1e64, 1e128),
}
DEMANDS = tuple(
    replace(DemandSettings(vary=axis, H=1e30), **{axis: x})
    for axis, levels in AXES.items()
    for x in levels
)
SEARCHED = tuple(
    SearchSettings(T=T, relevant=k) for T in (2, 3, 4, 6, 8, 12, 16) for k in range(1, T)
)

STUDIES = (
    study(
        "data",
        "the sizes of drawn tokens against Assumption 3, by kind of noise",
        MixtureSettings,
        "mixture:describe_data",
        (DATA, 3),
        (DATA, 20),
        (DATA, 200),
        irrelevant=dict.fromkeys(("n", "n1"), WHOLE_POOL),
    ),
    study(
        "first_phase",
        "one step from zero, over the samples that it sees",
        MixtureSettings,
        "mixture:first_step",
        (FIRST, 10),
        (FIRST, 60),
        (FIRST, 400),
        resolve=resolve_first_phase,
        irrelevant={"n": "only phase 1 is run, which has n1 samples"},
    ),
    study(
        "attention",
        "attention with Proposition 3's weights on drawn samples, over S, zeta and noise",
        ExpressivitySettings,
        "mixture:attend",
        (ATTEND, 1),
        (ATTEND, 5),
        (ATTEND, 50),
        irrelevant=dict.fromkeys(("n", "n1"), WHOLE_POOL),
    ),
    study(
        "good_start",
        "P1-P3 after phase 1, the margins there, and a target of small loss",
        InitialisationSettings,
        "good_starts:good_start",
        (GOOD, 4),
        (GOOD, 20),
        (GOOD, 100),
        irrelevant=dict.fromkeys(("start", "scale"), "the start is the one that phase 1 makes"),
        seconds=0.1,
    ),
    study(
        "places",
        "linear margins without noise, relevant places random or fixed",
        InitialisationSettings,
        "good_starts:linear_model",
        (PLACES, 3),
        (PLACES, 10),
        (PLACES, 50),
        irrelevant=dict.fromkeys(
            ("n1", "H", "delta", "start", "scale", "epsilon"),
            "a linear model on the training samples has neither heads nor a start",
        ),
    ),
    study(
        "margin_formulas",
        "gamma_lin, gamma_* and gamma_attn as formulas, over S and zeta",
        MixtureSettings,
        "mixture:compare_margins",
        (ORDER, 1),
        (ORDER, 1),
        (ORDER, 1),
        irrelevant=dict.fromkeys(
            ("noise", "places", "n", "n1", "points", "labels"),
            "the formulas hold for the sizes alone; no sample is drawn",
        ),
    ),
    study(
        "random_start",
        "the largest NTK margin of random heads, over their number and size",
        InitialisationSettings,
        "good_starts:random_start",
        (RANDOM, 3),
        (RANDOM, 10),
        (RANDOM, 60),
        resolve=resolve_random,
        irrelevant={
            "start": "random heads are what is studied",
            **dict.fromkeys(("delta", "epsilon"), "no bound is evaluated, only margins"),
        },
    ),
    study(
        "scalings",
        "section 5.3: a search for a scaling under which Proposition 3 is a target",
        ImpossibilitySettings,
        "mixture:search_scaling",
        (SCALINGS, 1),
        (SCALINGS, 1),
        (SCALINGS, 1),
    ),
    study(
        "demands",
        "section 7: how far a target may be and how many heads a margin asks for",
        DemandSettings,
        "calculator:demand",
        (DEMANDS, 1),
        (DEMANDS, 1),
        (DEMANDS, 1),
        irrelevant={"vary": "it names the size along which a cell is one of several"},
    ),
    study(
        "search",
        "the smallest K at which the theorems say something, over T, zeta, S and targets",
        SearchSettings,
        "calculator:search",
        (SEARCHED, 1),
        (SEARCHED, 1),
        (SEARCHED, 1),
        seconds=0.1,
    ),
)
