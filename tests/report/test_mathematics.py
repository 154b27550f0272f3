"""Formulas as they are typed, set for the page and for LaTeX; nothing else changes."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.lab import registry
from attnlab.report.mathematics import formulas, latex_text, mathml, plain_text, typeset

SET = {
    "alpha_*^-2": "<i>α</i><sub>∗</sub><sup>−2</sup>",
    "W_K^T W_Q >= 1": "<i>W</i><sub>K</sub><sup>T</sup> <i>W</i><sub>Q</sub> ≥ 1",
    "(1 - x)^2": "(1 - x)<sup>2</sup>",
    "10^-3": "10<sup>−3</sup>",
    "eps_m": "<i>ε</i><sub>m</sub>",
    "snake_case li2023.figure_1a theta-hat": "snake_case li2023.figure_1a <i>θ</i>-hat",
    "meta, beta": "meta, <i>β</i>",
    "a < b & c": "a &lt; b &amp; c",
    "e^{-x}": "<i>e</i><sup>−x</sup>",
    "lambda_min": "<i>λ</i><sub>min</sub>",
}


@pytest.mark.parametrize("text", SET)
def test_formulas_are_set(text):
    assert typeset(text) == SET[text]


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="$"), max_size=60))
def test_every_text_is_safe_and_loses_no_word(text):
    html = typeset(text)
    tags = re.findall(r"<[^>]*>", html)
    assert set(tags) <= {"<i>", "</i>", "<sub>", "</sub>", "<sup>", "</sup>"}
    kept = unescape(re.sub(r"<[^>]*>", "", html))
    for word in re.findall(r"\b[b-df-hj-np-qs-zB-DF-HJ-NP-QS-Z]{6,}\b", text):
        assert word in kept


@pytest.mark.parametrize(
    "latex",
    [r"\operatorname*{arg}_x", r"\arg\max_x f(x)", r"\alpha_*^{-2}", r"\frac{1}{2}\sqrt{m}"],
)
def test_no_backslash_survives(latex):
    found = mathml(latex)
    assert found.startswith("<math")
    assert "\\" not in found


@pytest.mark.parametrize("paper", registry.papers().values(), ids=lambda paper: paper.id)
def test_the_formulas_of_a_paper_are_of_its_claims(paper):
    known = {claim.id for claim in paper.claims}
    for name, latex in formulas(paper).items():
        assert name in known
        assert "\\" not in mathml(latex, display=True), name


@pytest.mark.parametrize("paper", registry.papers().values(), ids=lambda paper: paper.id)
def test_every_text_of_a_claim_is_latex(paper):
    for claim in paper.claims:
        for text in (claim.title, claim.statement, claim.stated, claim.measured, claim.notes):
            tex = latex_text(text)
            assert tex.count("$") % 2 == 0, tex
            outside = re.sub(r"\$[^$]*\$", "", tex)
            assert not re.search(r"(?<!\\)[_^&#%~]", outside), outside
            assert not re.search(r"[^\x00-\u024f‘’“”αβγδεζηθκλμνξπρστφχψωΓΔΘΣΦΩ≈→∞²³·]", outside), (
                outside
            )


def test_labels_of_figures_in_plain_letters():
    assert plain_text(r"$\alpha_*^{-2}$ of $10^{3}$") == "α*⁻² of 10³"
    assert plain_text("two\nlines") == "two lines"
    assert "\\" not in plain_text(r"$-\lambda_{\min}(\nabla^2 L)/L$, $\|\theta_K-\theta_K^{-i}\|$")
