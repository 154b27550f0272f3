"""Studies that train: descent, its paths, and leave-one-out models."""

from dataclasses import replace

from attnlab.papers.deora2023.settings import TrainingSettings, resolve
from attnlab.papers.deora2023.studies.common import NOISE, shapes, sooner, study

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

STUDIES = (
    study(
        "heads",
        "training in two phases with 1 to 10^6 heads",
        TrainingSettings,
        "training_runs:train",
        (sooner(HEADS[1::2], 300), 2),
        (HEADS, 5),
        (sooner((*HEADS, replace(TRAINED, H=1e7), replace(TRAINED, H=1e8)), 10_000), 20),
        resolve=resolve,
        program=shapes,
        seconds=0.3,
    ),
    study(
        "explicit_heads",
        "random heads that all differ, before and after training: curvature by Lanczos",
        TrainingSettings,
        "curvature_runs:explicit_curvature",
        (DIFFERENT, 1),
        (DIFFERENT, 5),
        (DIFFERENT, 50),
        resolve=resolve,
        program=shapes,
        seconds=0.5,
    ),
    study(
        "margins",
        "long training of two heads without noise, over zeta and S",
        TrainingSettings,
        "training_runs:train_with_margins",
        (tuple(cell for cell in MARGINS if cell.S == 1), 1),
        (MARGINS, 3),
        (sooner(MARGINS, 500_000), 10),
        resolve=resolve,
        program=shapes,
        seconds=0.9,
    ),
    study(
        "horizons",
        "two heads on sparse, noisy samples, over the number of steps",
        TrainingSettings,
        "training_runs:train",
        (HORIZONS[:4], 2),
        (HORIZONS, 5),
        ((*HORIZONS, replace(HORIZONS[0], K=600_000)), 20),
        resolve=resolve,
        program=shapes,
        seconds=0.4,
    ),
    study(
        "steps",
        "10^12 heads at the step size of Theorem 2, over the number of steps K",
        TrainingSettings,
        "training_runs:train",
        (STEPS[:4], 2),
        (STEPS, 5),
        ((*STEPS, replace(STEPS[0], K=10_000)), 20),
        resolve=resolve,
        program=shapes,
        seconds=0.3,
    ),
    study(
        "paths",
        "paths beside a target that meet Theorem 1's conditions, state by state",
        TrainingSettings,
        "path_runs:walk",
        (PATHS, 1),
        (PATHS, 6),
        (PATHS, 60),
        resolve=resolve,
        program=shapes,
        seconds=1.0,
    ),
    study(
        "explicit",
        "Theorem 1's conditions met by twelve explicit heads",
        TrainingSettings,
        "path_runs:long_walk",
        ((EXPLICIT,), 1),
        ((EXPLICIT,), 3),
        ((EXPLICIT,), 20),
        resolve=resolve,
        program=shapes,
        seconds=2.0,
    ),
    study(
        "atoms",
        "all leave-one-out models of noise-free samples, n up to 100,000",
        TrainingSettings,
        "stability_runs:leave_one_out",
        (ATOMS, 2),
        (ATOMS, 8),
        ((*ATOMS, replace(ATOMS[0], n=10**6)), 100),
        resolve=resolve,
        program=shapes,
        seconds=0.7,
    ),
    study(
        "noisy",
        "all leave-one-out models of noisy samples, where the bound is below log 2",
        TrainingSettings,
        "stability_runs:leave_one_out",
        (NOISY, 3),
        (NOISY, 16),
        (NOISY, 200),
        resolve=resolve,
        program=shapes,
        seconds=0.7,
    ),
)
