"""Studies that train: descent, its paths, and leave-one-out models."""

from dataclasses import replace

from attnlab.papers.deora2023.settings.training import (
    CurvatureSettings,
    GuaranteedSettings,
    PathSettings,
    StabilitySettings,
    TrainingSettings,
    resolve,
    resolve_guaranteed,
    resolve_kept,
)
from attnlab.papers.deora2023.studies.common import NOISE_LEVEL, sooner, study

MANY = (1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6)
TRAINED = TrainingSettings(eta=0.5, K=1000, noise="uniform", **NOISE_LEVEL)
HEADS = tuple(replace(TRAINED, H=H) for H in MANY)
DIFFERENT = (
    CurvatureSettings(
        eta=0.5, K=300, noise="uniform", **NOISE_LEVEL, H=8.0, start="random", scale=1.0
    ),
)
LONG = TrainingSettings(H=2.0, signs="balanced", eta=1.0, K=20_000, n1=0)
MARGINS = tuple(replace(LONG, zeta=zeta, S=S) for zeta in (0.25, 0.5, 0.75) for S in (1.0, 2.0))
HORIZONS = tuple(
    replace(LONG, K=K, zeta=0.25, noise="uniform", **NOISE_LEVEL)
    for K in (200, 600, 2_000, 6_000, 20_000, 200_000)
)
COLLAPSED = PathSettings(d=5, H=1e8, K=300)
PATHS = (
    COLLAPSED,
    replace(COLLAPSED, noise="uniform", **NOISE_LEVEL),
    replace(COLLAPSED, zeta=0.25, S=1.5),
)
# Where section 6.1's own constants say something soonest: the claim finding_when_informative.
GUARANTEED = GuaranteedSettings(
    T=6, d=3, M=1, zeta=5 / 6, points="atoms", n=1000, n1=0, H=1e12, K=400_000, proof="corrected"
)
BY_OWN_CONSTANTS = (GUARANTEED, replace(GUARANTEED, T=4, zeta=0.75))
COROLLARY = tuple(
    replace(GUARANTEED, aim="corollary_2", theorem=2, H=1e16, K=K) for K in (30_000, 100_000)
)
DISTINCT = GuaranteedSettings(
    T=24, d=3, M=1, zeta=23 / 24, n=8, n1=0, H=1000.0, K=20, start="random", scale=0.05,
    proof="sharp",
)  # fmt: skip
STABLE = StabilitySettings(d=4, H=1e12, K=100, theorem=2)
ATOMS = tuple(replace(STABLE, points="atoms", n=n) for n in (100, 320, 1000, 10_000, 100_000))
NOISY = (replace(STABLE, K=20, n=192, zeta=0.75, noise="uniform", Z_mu=0.02, Z_nu=0.02, Z=0.3),)
GUARANTEED_GAP = tuple(
    StabilitySettings(
        T=4, d=3, M=1, zeta=0.75, points="atoms", n=n, n1=0, H=1e12, K=10_000, theorem=2,
        proof="corrected",
    )
    for n in (10**6, 10**7, 10**8)
)  # fmt: skip
STEPS = tuple(
    TrainingSettings(H=1e12, K=K, theorem=2, noise="uniform", **NOISE_LEVEL)
    for K in (30, 100, 300, 1000, 3000)
)

FROM_PHASE_1 = dict.fromkeys(("start", "scale"), "the theorem's start is the one phase 1 makes")

STUDIES = (
    study(
        "heads",
        "training in two phases with 1 to 10^6 heads",
        TrainingSettings,
        "training:train",
        (sooner(HEADS[1::2], 300), 2),
        (HEADS, 5),
        (sooner((*HEADS, replace(TRAINED, H=1e7), replace(TRAINED, H=1e8)), 10_000), 20),
        resolve=resolve,
        seconds=0.3,
    ),
    study(
        "explicit_heads",
        "random heads that all differ, before and after training: curvature by Lanczos",
        CurvatureSettings,
        "curvature:explicit_curvature",
        (DIFFERENT, 1),
        (DIFFERENT, 5),
        (DIFFERENT, 50),
        resolve=resolve,
        seconds=0.5,
    ),
    study(
        "margins",
        "long training of two heads without noise, over zeta and S",
        TrainingSettings,
        "training:train_with_margins",
        (tuple(cell for cell in MARGINS if cell.S == 1), 1),
        (MARGINS, 3),
        (sooner(MARGINS, 500_000), 10),
        resolve=resolve,
        seconds=0.9,
    ),
    study(
        "horizons",
        "two heads on sparse, noisy samples, over the number of steps",
        TrainingSettings,
        "training:train",
        (HORIZONS[:4], 2),
        (HORIZONS, 4),
        ((*HORIZONS, replace(HORIZONS[0], K=2_000_000)), 20),
        resolve=resolve,
        seconds=0.6,
    ),
    study(
        "steps",
        "10^12 heads at the step size of Theorem 2, over the number of steps K",
        TrainingSettings,
        "training:train",
        (STEPS[:4], 2),
        (STEPS, 5),
        ((*STEPS, replace(STEPS[0], K=10_000)), 20),
        resolve=resolve,
        seconds=0.3,
    ),
    study(
        "paths",
        "paths beside a target that meet our conditions of Theorem 1, state by state",
        PathSettings,
        "paths:walk",
        (PATHS, 2),
        (PATHS, 6),
        (PATHS, 60),
        resolve=resolve_kept,
        irrelevant=FROM_PHASE_1,
        seconds=1.0,
    ),
    study(
        "guaranteed",
        "Theorem 1 by section 6.1's own constants, as long as it takes them to say something",
        GuaranteedSettings,
        "paths:long_walk",
        (BY_OWN_CONSTANTS[:1], 1),
        (BY_OWN_CONSTANTS, 3),
        (sooner(BY_OWN_CONSTANTS, 4_000_000), 5),
        resolve=resolve_guaranteed,
        seconds=2.5,
    ),
    study(
        "corollary",
        "Corollary 2's target, by section 6.1's own constants",
        GuaranteedSettings,
        "paths:long_walk",
        (COROLLARY, 1),
        (COROLLARY, 3),
        (sooner(COROLLARY, 1_000_000), 10),
        resolve=resolve_guaranteed,
        seconds=1.0,
    ),
    study(
        "distinct",
        "a thousand heads that all differ, under our sharp conditions of Theorem 1",
        GuaranteedSettings,
        "paths:long_walk",
        ((DISTINCT,), 1),
        ((DISTINCT,), 3),
        ((DISTINCT, replace(DISTINCT, H=2000.0)), 10),
        resolve=resolve_guaranteed,
        seconds=2.0,
    ),
    study(
        "atoms",
        "all leave-one-out models of noise-free samples, n up to 100,000",
        StabilitySettings,
        "stability:leave_one_out",
        (ATOMS, 2),
        (ATOMS, 8),
        ((*ATOMS, replace(ATOMS[0], n=10**6)), 100),
        resolve=resolve_kept,
        irrelevant=FROM_PHASE_1,
        seconds=0.7,
    ),
    study(
        "noisy",
        "all leave-one-out models of noisy samples",
        StabilitySettings,
        "stability:leave_one_out",
        (NOISY, 3),
        (NOISY, 6),
        (NOISY, 100),
        resolve=resolve_kept,
        irrelevant=FROM_PHASE_1,
        seconds=2.0,
    ),
    study(
        "guaranteed_gap",
        "all leave-one-out models by section 6.1's own constants, n up to 10^8",
        StabilitySettings,
        "stability:leave_one_out",
        (GUARANTEED_GAP[1:], 3),
        (GUARANTEED_GAP, 6),
        (GUARANTEED_GAP, 50),
        resolve=resolve_kept,
        irrelevant=FROM_PHASE_1,
        seconds=1.2,
    ),
)
