"""What the engines on words are exact for. Plain arithmetic: settings ask before a run is made.

Each function gives a sentence why an engine is not exact for what is asked of it, or nothing. The
engines' own `why_not` ask the same of arrays.

| engine | methods | first state | data |
|---|---|---|---|
| weights | any | drawn weights | any |
| gram | flow, descent, momentum | of weights, bartlett, mean | any |
| gram, with neurons | flow, descent | of weights, bartlett | any |
| symmetric | flow, descent | mean | exact shares of the types, each random word once, true labels |

Legend: n samples of L words out of d; width m, m1 neurons. Bartlett's factors draw the first Grams
without weights, in the law of normal ones; the mean is the Grams' expectation.
"""

from attnlab.data.word_sizes import SIGNALS

NORMAL = ("theory", "kaiming_normal")
"""The schemes whose weights are normal: Bartlett's factors draw no others."""


def grams_close(method: str, *, neurons: bool) -> bool:
    """Whether a rule is linear in what Grams, and single neurons if asked for, are made of."""
    return method in ("flow", "descent") or (method == "momentum" and not neurons)


def weights_why_not(*, method: str, probes: str, weights: str, initial: str) -> str:
    """Why the engine on the weights cannot do it: it needs weights to begin with."""
    if initial == "mean":
        return _mean_has_no_weights("weights", method, probes)
    if initial == "bartlett":
        without = "got initial=bartlett with engine=weights; take --engine gram"
        return _not_normal(weights) or without
    return ""


def gram_why_not(
    *, method: str, probes: str, weights: str, initial: str, d: int, m: int, m1: int
) -> str:
    """Why Grams of d words are not exact, or cannot be drawn."""
    neurons = probes == "neurons"
    if neurons and initial == "mean":
        return _mean_has_no_weights("gram", method, probes)
    if not grams_close(method, neurons=neurons):
        return (
            f"got engine=gram with method={method} and probes={probes}; Grams do not "
            "close under adam, and neurons are not followed under momentum; take --engine weights"
        )
    if initial == "bartlett":
        return _not_normal(weights) or _too_narrow(d, m, m1 if neurons else 0)
    return ""


def symmetric_why_not(
    *,
    sampler: str = "balanced",
    words: str = "distinct",
    labels: str = "true",
    method: str = "flow",
    initial: str = "mean",
    probes: str = "words",
) -> str:
    """Why classes of words are not exact: training would tell apart what they hold to be alike."""
    conditions = [
        (sampler == "balanced", f"sampler={sampler}", "exact shares (sampler=balanced)"),
        (words == "distinct", f"words={words}", "distinct words (words=distinct)"),
        (labels == "true", f"labels={labels}", "one label for each type (labels=true)"),
        (method in ("flow", "descent"), f"method={method}", "method=flow or descent"),
        (initial in ("auto", "mean"), f"initial={initial}", "initial=mean"),
        (probes == "words", f"probes={probes}", "probes=words: a mean has no neurons"),
    ]
    for holds, got, required in conditions:
        if not holds:
            return f"got {got} with engine=symmetric, which needs {required}; take --engine gram"
    return ""


def unused_words_why_not(d: int, required: int) -> str:
    """Why classes of words cannot show every word: each must be in a sample."""
    if d - SIGNALS == required:
        return ""
    return (
        f"got d={d}, that is {d - SIGNALS} random words, with engine=symmetric, which needs "
        f"each of them in a sample: d={required + SIGNALS} or d=0; or take --engine gram"
    )


def _mean_has_no_weights(engine: str, method: str, probes: str) -> str:
    return (
        f"got initial=mean with engine={engine}, method={method} and "
        f"probes={probes}; the mean has neither weights nor neurons: take --engine gram "
        "and probes=words, or initial=weights"
    )


def _not_normal(weights: str) -> str:
    if weights in NORMAL:
        return ""
    return (
        f"got initial=bartlett with weights={weights}; Bartlett's factors need normal "
        "weights: take weights=theory, or initial=weights"
    )


def _too_narrow(d: int, m: int, neurons: int) -> str:
    """Bartlett's factors have as many dimensions as columns, and neurons need some beside them."""
    if m < 2 * d:
        return (
            f"got m={m} with {d} words and initial=bartlett, which needs "
            f"m >= {2 * d}; take initial=weights or --engine weights"
        )
    if neurons and m <= d + neurons:
        return (
            f"got m={m} with {d} words, m1={neurons} neurons and "
            f"initial=bartlett, which follows neurons if m > {d + neurons}; take "
            "probes=words, initial=weights or --engine weights"
        )
    return ""
