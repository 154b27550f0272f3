"""The designs of the deora2023 studies."""

from dataclasses import replace
from typing import Any

from attnlab.core import Design, Study
from attnlab.papers.deora2023.settings import (
    AscentSettings,
    ExpressivitySettings,
    FormulaSettings,
    GlobalMarginSettings,
    ImpossibilitySettings,
    InitialisationSettings,
    MixtureSettings,
    Noise,
    SegmentSettings,
    TrainingSettings,
    resolve,
)

PACKAGE = "attnlab.papers.deora2023"
NOISE: dict[str, Any] = {"Z_mu": 0.05, "Z_nu": 0.05, "Z": 0.5}
KINDS: tuple[Noise, ...] = ("clipped_gaussian", "uniform", "extreme")
OBJECTIVES = (
    "none",
    "model_gradient",
    "model_hessian",
    "self_bounded",
    "smooth",
    "weakly_convex",
)


def _shapes(cell: Any) -> tuple:
    """What the compiled programs of a mixture depend on: sizes that are shapes."""
    points = cell.mixture().atoms(cell.places == "fixed") if cell.points == "atoms" else cell.n
    explicit = cell.H if getattr(cell, "engine", "") == "weights" else 0
    return (cell.T, cell.d, cell.M, points, explicit, getattr(cell, "output", "full"))


# --- designs ----------------------------------------------------------------------------------

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
PLACES = InitialisationSettings(n=192, n1=0)
PLACES = tuple(replace(PLACES, S=S) for S in (0.5, 1.0, 2.0))
RANDOM = tuple(
    replace(NOISY_START, start="random", H=H, scale=scale)
    for H in (4.0, 16.0, 64.0)
    for scale in (0.3, 1.0)
)
MANY = (1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6)
TRAINED = TrainingSettings(eta=0.5, K=1000, noise="uniform", **NOISE)
HEADS = tuple(replace(TRAINED, H=H) for H in MANY)
DIFFERENT = (replace(TRAINED, H=8.0, start="random", K=300, scale=1.0),)
LONG = TrainingSettings(H=2.0, signs="balanced", eta=1.0, K=20_000, n1=0)
MARGINS = tuple(replace(LONG, zeta=zeta, S=S) for zeta in (0.25, 0.5, 0.75) for S in (1.0, 2.0))
HORIZONS = tuple(
    replace(LONG, K=K, zeta=0.25, noise="uniform", **NOISE)
    for K in (200, 600, 2_000, 6_000, 20_000)
)
COLLAPSED = TrainingSettings(H=1e7, signs="balanced", K=100)
PATHS = (
    COLLAPSED,
    replace(COLLAPSED, H=1e8, K=30, noise="uniform", **NOISE),
    replace(COLLAPSED, H=1e8, K=100, zeta=0.25, S=1.5),
)
EXPLICIT = TrainingSettings(
    T=2,
    d=3,
    M=1,
    S=300.0,
    H=12.0,
    K=200_000,
    signs="balanced",
    points="atoms",
    n=1000,
    n1=0,
    engine="weights",
    proof="sharp",
)
STABLE = TrainingSettings(H=1e8, signs="balanced", K=100, theorem=2)
ATOMS = tuple(replace(STABLE, points="atoms", n=n) for n in (100, 320, 1000, 10_000, 100_000))
NOISY = (
    replace(STABLE, K=2, zeta=0.75, noise="uniform", Z=0.3),
    replace(STABLE, K=8, noise="uniform", **NOISE),
)
STEPS = tuple(
    replace(STABLE, H=1e12, K=K, noise="uniform", **NOISE) for K in (30, 100, 300, 1000, 3000)
)
SEGMENTS = (SegmentSettings(), SegmentSettings(H=100.0), SegmentSettings(S=2.0))
SCALINGS = tuple(
    ImpossibilitySettings(n=n, c=c) for n in (3.0, 100.0, 1e6) for c in (0.25, 0.5, 1.0, 2.0)
)
GLOBAL = tuple(GlobalMarginSettings(S=S, zeta=zeta) for S in (1.0, 2.0) for zeta in (0.25, 0.5))


def _tokens(cell: Any) -> tuple:
    """What drawing samples depends on."""
    return cell.T, cell.d, cell.M


def _study(name: str, summary: str, settings: type, run: str, *designs: Any, **more: Any) -> Study:
    """A study from its designs at smoke, quick and paper, each (cells, trials)."""
    seconds = more.pop("seconds", 0.05)
    by_scale = zip(("smoke", "quick", "paper"), designs, strict=True)
    return Study(
        id=f"deora2023.{name}",
        summary=summary,
        settings=settings,
        run=f"{PACKAGE}.{run}",
        designs={scale: Design(tuple(cells), trials) for scale, (cells, trials) in by_scale},  # type: ignore[misc]
        cost=lambda cell: seconds,
        **more,
    )


def _sooner(cells: Any, K: int) -> tuple:
    return tuple(replace(cell, K=K) for cell in cells)


STUDIES = (
    _study(
        "formulas",
        "Lemma 1's gradients and Hessians against autodiff and central differences",
        FormulaSettings,
        "formula_runs:compare_formulas",
        ((FormulaSettings(),), 8),
        ((FormulaSettings(),), 40),
        ((FormulaSettings(), FormulaSettings(T=12, d=10)), 50),
        program=lambda cell: (cell.T, cell.d),
    ),
    _study(
        "ascent",
        "bounds at random parameters and at ones found by ascending measured over bound",
        AscentSettings,
        "formula_runs:ascend",
        (tuple(AscentSettings(objective=o, steps=150) for o in OBJECTIVES), 3),
        (tuple(AscentSettings(objective=o) for o in OBJECTIVES), 12),
        (tuple(AscentSettings(objective=o, steps=2000) for o in OBJECTIVES), 60),
        program=lambda cell: (cell.T, cell.d),
        seconds=0.2,
    ),
    _study(
        "data",
        "the sizes of drawn tokens against Assumption 3, by kind of noise",
        MixtureSettings,
        "mixture_runs:describe_data",
        (DATA, 3),
        (DATA, 20),
        (DATA, 200),
        program=_tokens,
    ),
    _study(
        "first_phase",
        "one step from zero, over the samples that it sees",
        MixtureSettings,
        "mixture_runs:first_step",
        (FIRST, 10),
        (FIRST, 60),
        (FIRST, 400),
        program=_tokens,
    ),
    _study(
        "attention",
        "attention with Proposition 3's weights on drawn samples, over S, zeta and noise",
        ExpressivitySettings,
        "mixture_runs:attend",
        (ATTEND, 1),
        (ATTEND, 5),
        (ATTEND, 50),
        program=_tokens,
    ),
    _study(
        "good_start",
        "P1-P3 after phase 1, the margins there, and a target of small loss",
        InitialisationSettings,
        "start_runs:good_start",
        (GOOD, 4),
        (GOOD, 20),
        (GOOD, 100),
        program=_shapes,
        seconds=0.1,
    ),
    _study(
        "places",
        "linear margins without noise, relevant places random or fixed",
        InitialisationSettings,
        "start_runs:linear_model",
        (PLACES, 3),
        (PLACES, 10),
        (PLACES, 50),
        program=_tokens,
    ),
    _study(
        "margin_formulas",
        "gamma_lin, gamma_* and gamma_attn as formulas, over S and zeta",
        MixtureSettings,
        "mixture_runs:compare_margins",
        (ORDER, 1),
        (ORDER, 1),
        (ORDER, 1),
        program=lambda cell: 0,
    ),
    _study(
        "random_start",
        "the largest NTK margin of random heads, over their number and size",
        InitialisationSettings,
        "start_runs:random_start",
        (RANDOM, 3),
        (RANDOM, 10),
        (RANDOM, 60),
        program=_shapes,
    ),
    _study(
        "heads",
        "training in two phases with 1 to 10^6 heads",
        TrainingSettings,
        "training_runs:train",
        (_sooner(HEADS[1::2], 300), 2),
        (HEADS, 5),
        (_sooner((*HEADS, replace(TRAINED, H=1e7), replace(TRAINED, H=1e8)), 10_000), 20),
        resolve=resolve,
        program=_shapes,
        seconds=0.3,
    ),
    _study(
        "explicit_heads",
        "random heads that all differ, before and after training: curvature by Lanczos",
        TrainingSettings,
        "curvature_runs:explicit_curvature",
        (DIFFERENT, 1),
        (DIFFERENT, 5),
        (DIFFERENT, 50),
        resolve=resolve,
        program=_shapes,
        seconds=0.5,
    ),
    _study(
        "margins",
        "long training of two heads without noise, over zeta and S",
        TrainingSettings,
        "training_runs:train_with_margins",
        (tuple(cell for cell in MARGINS if cell.S == 1), 1),
        (MARGINS, 3),
        (_sooner(MARGINS, 500_000), 10),
        resolve=resolve,
        program=_shapes,
        seconds=0.9,
    ),
    _study(
        "horizons",
        "two heads on sparse, noisy samples, over the number of steps",
        TrainingSettings,
        "training_runs:train",
        (HORIZONS[:4], 2),
        (HORIZONS, 5),
        ((*HORIZONS, replace(HORIZONS[0], K=600_000)), 20),
        resolve=resolve,
        program=_shapes,
        seconds=0.4,
    ),
    _study(
        "steps",
        "10^12 heads at the step size of Theorem 2, over the number of steps K",
        TrainingSettings,
        "training_runs:train",
        (STEPS[:4], 2),
        (STEPS, 5),
        ((*STEPS, replace(STEPS[0], K=10_000)), 20),
        resolve=resolve,
        program=_shapes,
        seconds=0.3,
    ),
    _study(
        "paths",
        "paths beside a target that meet Theorem 1's conditions, state by state",
        TrainingSettings,
        "path_runs:walk",
        (PATHS, 1),
        (PATHS, 6),
        (PATHS, 60),
        resolve=resolve,
        program=_shapes,
        seconds=1.0,
    ),
    _study(
        "explicit",
        "Theorem 1's conditions met by twelve explicit heads",
        TrainingSettings,
        "path_runs:long_walk",
        ((EXPLICIT,), 1),
        ((EXPLICIT,), 3),
        ((EXPLICIT,), 20),
        resolve=resolve,
        program=_shapes,
        seconds=2.0,
    ),
    _study(
        "atoms",
        "all leave-one-out models of noise-free samples, n up to 100,000",
        TrainingSettings,
        "stability_runs:leave_one_out",
        (ATOMS, 2),
        (ATOMS, 8),
        ((*ATOMS, replace(ATOMS[0], n=10**6)), 100),
        resolve=resolve,
        program=_shapes,
        seconds=0.7,
    ),
    _study(
        "noisy",
        "all leave-one-out models of noisy samples, where the bound is below log 2",
        TrainingSettings,
        "stability_runs:leave_one_out",
        (NOISY, 3),
        (NOISY, 16),
        (NOISY, 200),
        resolve=resolve,
        program=_shapes,
        seconds=0.7,
    ),
    _study(
        "segments",
        "the loss between points that are as far apart as Proposition 4 allows",
        SegmentSettings,
        "landscape_runs:segments",
        (SEGMENTS, 2),
        (SEGMENTS, 8),
        (SEGMENTS, 60),
        program=_shapes,
        seconds=0.2,
    ),
    _study(
        "scalings",
        "section 5.3: a search for a scaling under which Proposition 3 is a target",
        ImpossibilitySettings,
        "mixture_runs:search_scaling",
        (SCALINGS, 1),
        (SCALINGS, 1),
        (SCALINGS, 1),
        program=lambda cell: 0,
    ),
    _study(
        "global_margin",
        "the largest margin of parameters of length sqrt 2, by ascent",
        GlobalMarginSettings,
        "landscape_runs:global_margin",
        (GLOBAL, 1),
        (GLOBAL, 4),
        (tuple(replace(cell, steps=5_000) for cell in GLOBAL), 20),
        program=_shapes,
        seconds=0.4,
    ),
)
