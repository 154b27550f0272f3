"""Steps in the proofs of Lemmas F.5 and F.6: rates of outputs and margins, (12), (16)."""

from attnlab.claims import Control, Source
from attnlab.evidence.laws import AtMost, Equal, Share
from attnlab.evidence.statement import statement
from attnlab.papers.yang2024.claims import paths as p
from attnlab.papers.yang2024.claims import phase_2 as w
from attnlab.papers.yang2024.claims.common import HIDDEN, drawn_hypotheses
from attnlab.papers.yang2024.scalars import balance, examples
from attnlab.papers.yang2024.scalars import phase_2 as s

_FALLS = p.plain("at_most", -0.5)
_WHY = (
    p.WHY + " Ours too: that o(1) is a size whose exponent in log m lies below 0, and 0.9 of the "
    "drawn runs. "
)
_WINDOW = "Over the second phase to a loss of 1/m. "

F5_STEPS = statement("yang2024.equation_12", "scaling",
    title="Steps of Lemma F.5: what balances the two types with one signal",
    statement="In phase 2 the margins' rates are those that the signals' outputs give, up to o(1) "
    "of rho times the mean loss derivative; the sum of g(1 - g) over a type is the sum of g times "
    "a factor between the least and the largest 1 - g; and (-2 S1 + 2 S2 + S3 + S4)/S3 is at most "
    "6, S being the types' sums of g.",
    source=Source("F.1", "proof of Lemma F.5, equation (12) and what follows", 48),
    stated="o(1); between the two bounds; at most 6",
    measured=p.ALONG + _WINDOW + "The largest part of a margin's rate that the displays leave out "
    "(an upper bound, term by term), and the quotient by S3. From drawn weights at coupled sizes: "
    "the quotient by the bounds.",
    why=_WHY + "6 and the displays are the paper's.",
    readings=p.EARLY,
    parts=p.joined(p.early("margins' rates", balance.MARGIN_RATES, _FALLS),
        p.early("at most six", balance.SIX, AtMost(6.0)),
        (w.mostly("within the bounds on g(1 - g)", balance.CURVATURE, AtMost(1.0 + 1e-9)),)),
    controls=(p.wrong("left out: log^-9 m", "margins' rates", p.plain("at_most", -9.0), at="k = 2"),
        p.wrong("at most 0.1", "at most six", AtMost(0.1), at="k = 2"),
        Control("nine tenths of the bounds", "the bounds on g(1 - g) times 0.9",
            "within the bounds on g(1 - g)", law=Share(AtMost(0.9), 0.9))),
    positive=examples.balance(), hypotheses=drawn_hypotheses, constants=(HIDDEN,),
    notes="The chain of equivalences before (12) is the quotient rule, and not measured. On "
    "classes of words types 2 and 3 are alike: only drawn weights tell of S2/S3. Not judged: that "
    "S2/S3 goes towards 1, which it did at every step of every run, with no control of ours that "
    "makes it otherwise; and the last display, whose quotient follows the solver's own error, "
    "1e-6, late in 3 of 40 runs.",
)  # fmt: skip

F6_STEPS = statement("yang2024.equation_16", "scaling",
    title="Steps of Lemma F.6: the signals' rates, and the quadratic",
    statement="In phase 2 the rates of G(mu_1), G(mu_2) and G(mu_3) are rho/n times S1 - S2, S1 - "
    "S3 and S1 - S2 - S3 - S4, up to o(1) of rho times the mean loss derivative; and in (16), read "
    "as a R^2 + b R + c, c/a is near -2.",
    source=Source("F.1", "proof of Lemma F.6, equations (13) to (16)", 51),
    stated="o(1); c/a near -2 (printed: 2)",
    measured=p.ALONG + _WINDOW + "The largest error of the three rates over rho times the mean "
    "loss derivative. From drawn weights at coupled sizes: the mean of c/a.",
    why=_WHY + "0.1 for c/a is ours.",
    readings=p.EARLY,
    parts=p.joined(p.early("signals' rates", balance.SIGNAL_RATES, _FALLS),
        (w.mostly("c/a", s.C_OVER_A, Equal(-2.0, 0.1)),)),
    controls=(w.other("c/a as printed", "c/a", Equal(2.0, 0.1)),
        p.wrong("errors of log^-30 m", "signals' rates", p.plain("at_most", -30.0), at="k = 2")),
    positive={**examples.balance(), "phase_2_c_over_a": -2.0}, hypotheses=drawn_hypotheses,
    constants=(HIDDEN,),
    notes="(13) is R's definition rearranged, (14) is Lemma 4.5's first sentence, and that R goes "
    "towards the root of (16) is its last: judged there. The rates' errors are rounding, 1e-14, "
    "from m = e^28 on. Erratum (false; could be the extraction, "
    "for one sign decides): the print has c/a near 2.",
)  # fmt: skip

PROOF_STEPS = (F5_STEPS, F6_STEPS)
