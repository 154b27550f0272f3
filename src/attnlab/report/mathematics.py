"""Mathematics on the page: LaTeX as MathML, and the plain letters of claims as they are printed.

Claims write formulas as one types them (`alpha_*^-2`, `W_K^T W_Q`, `>=`), which a terminal shows
as they stand; the page sets Greek letters, indices and powers. What stands between dollars, and
the formulas of a paper's `formulas.toml`, is LaTeX.
"""

import re
import tomllib
from html import escape
from importlib.resources import files

from attnlab.core import Paper

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "Gamma": "Γ", "delta": "δ", "Delta": "Δ",
    "epsilon": "ε", "eps": "ε", "zeta": "ζ", "eta": "η", "theta": "θ", "Theta": "Θ", "kappa": "κ",
    "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "Sigma": "Σ", "tau": "τ", "phi": "φ", "Phi": "Φ", "chi": "χ", "psi": "ψ", "omega": "ω",
    "Omega": "Ω",
}  # fmt: skip
LATEX = {"eps": "epsilon"}
SIGNS = {">=": "≥", "<=": "≤", "!=": "≠", "+-": "±", "->": "→", "~=": "≈"}
WORDS = {"sqrt": "√", "infinity": "∞"}

_LETTER = rf"(?:{'|'.join(GREEK)})(?![A-Za-z])"
_INDEX = r"\{[^{}]*\}|\([^()\s]{1,12}\)|[A-Za-z]{1,4}(?![a-z])|\d+(?:\.\d+)?|[*#∗]"
_POWER = r"\{[^{}]*\}|\([^()]{1,16}\)|[-−+]?(?:\d+(?:[./]\d+)?|[A-Za-z*](?![a-z])|\.\d+)"
_TOKEN = re.compile(
    rf"(?P<dollar>\$[^$]+\$)"
    rf"|(?P<base>(?<![A-Za-z_]){_LETTER}|(?<![A-Za-z_])[A-Za-z](?=[_^])|(?<=[)\]|])(?=_[*#\d])"
    rf"|(?<=[\w)\]|~])(?=\^))(?P<index>_(?:{_INDEX}))?(?P<prime>'*)(?P<power>\^(?:{_POWER}))?"
    rf"|(?P<sign>>=|<=|!=|\+-|->|~=)"
)


def typeset(text: str) -> str:
    """A sentence of a claim as safe HTML: formulas set, everything else escaped."""
    pieces, last = [], 0
    for found in _TOKEN.finditer(text):
        if not found.group():
            continue
        pieces += [escape(text[last : found.start()]), _set(found)]
        last = found.end()
    return "".join([*pieces, escape(text[last:])])


def _set(found: re.Match[str]) -> str:
    if dollar := found["dollar"]:
        return mathml(dollar[1:-1])
    if sign := found["sign"]:
        return SIGNS[sign]
    base = found["base"] or ""
    if base not in GREEK and not found["index"] and not found["power"]:
        return escape(found.group())
    letter = GREEK.get(base, base)
    html = f"<i>{escape(letter)}</i>" if letter else ""
    html += f"<sub>{_script(found['index'])}</sub>" if found["index"] else ""
    html += "′" * len(found["prime"] or "")
    return html + (f"<sup>{_script(found['power'])}</sup>" if found["power"] else "")


def _script(text: str) -> str:
    """What stands in an index or a power, without the sign that put it there."""
    inside = text[1:]
    if inside[:1] in "{(" and inside[-1:] in ")}" and inside[:1] == "{":
        inside = inside[1:-1]
    inside = re.sub(_LETTER, lambda m: GREEK[m.group()], inside)
    return escape(inside.replace("*", "∗").replace("-", "−"))


def mathml(latex: str, display: bool = False) -> str:
    """LaTeX as MathML, which browsers show themselves."""
    from latex2mathml.converter import convert

    # latex2mathml knows neither of these, and would print a backslash.
    known = latex.replace(r"\operatorname*", r"\operatorname")
    known = re.sub(r"\\arg(?![a-zA-Z])\s*", r"\\operatorname{arg}", known)
    return convert(known, display="block" if display else "inline")


def formulas(paper: Paper) -> dict[str, str]:
    """The LaTeX of a paper's statements, by id, from `formulas.toml` of its package if there is."""
    try:
        text = files(paper.package).joinpath("formulas.toml").read_text(encoding="utf-8")
    except (FileNotFoundError, ModuleNotFoundError):
        return {}
    return {f"{paper.id}.{name}": latex for name, latex in tomllib.loads(text).items()}


# --- LaTeX ------------------------------------------------------------------------------------

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "_": r"\_", "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "≥": r"$\ge$", "≤": r"$\le$", "±": r"$\pm$", "×": r"$\times$", "−": "$-$", "–": "--",
    "…": r"\dots{}", "<": r"$<$", ">": r"$>$", "|": r"$|$", "√": r"$\surd$",
}  # fmt: skip
_LATEX_SIGNS = {
    ">=": r"\ge",
    "<=": r"\le",
    "!=": r"\ne",
    "+-": r"\pm",
    "->": r"\to",
    "~=": r"\approx",
}


def latex_text(text: str) -> str:
    """A sentence of a claim for LaTeX: formulas between dollars, special signs written out."""
    pieces, last = [], 0
    for found in _TOKEN.finditer(text):
        if not found.group():
            continue
        pieces += [escaped(text[last : found.start()]), _latex(found)]
        last = found.end()
    return "".join([*pieces, escaped(text[last:])])


def escaped(text: str) -> str:
    """Plain words for LaTeX."""
    return "".join(_SPECIAL.get(c, c) for c in text)


def _latex(found: re.Match[str]) -> str:
    if found["dollar"]:
        return found["dollar"]
    if sign := found["sign"]:
        return f"${_LATEX_SIGNS[sign]}$"
    base = found["base"] or ""
    if base not in GREEK and not found["index"] and not found["power"]:
        return escaped(found.group())
    letter = rf"\{LATEX.get(base, base)}" if base in GREEK else base
    index, power = (_latex_script(found[name]) for name in ("index", "power"))
    index = f"_{{{index}}}" if index else ""
    power = f"^{{{power}}}" if power else ""
    return f"${letter or '{}'}{index}{found['prime'] or ''}{power}$"


def _latex_script(text: str | None) -> str:
    if not text:
        return ""
    inside = text[1:]
    inside = inside[1:-1] if inside.startswith("{") else inside
    inside = re.sub(_LETTER, lambda m: rf"\{LATEX.get(m.group(), m.group())} ", inside)
    return inside.replace("−", "-").replace("#", r"\#").replace("%", r"\%").replace("&", r"\&")


# --- labels of figures ------------------------------------------------------------------------

_SUBSCRIPTS = str.maketrans("0123456789+-=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
_SUPERSCRIPTS = str.maketrans("0123456789+-=()*nTi", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾*ⁿᵀⁱ")
_SYMBOLS = {
    r"\top": "T", r"\min": "min", r"\max": "max", r"\nabla": "∇", r"\sqrt": "√", r"\|": "‖",
    r"\,": " ", r"\#": "#", r"\ge": "≥", r"\le": "≤", r"\times": "×", r"\pm": "±", r"\log": "log",
    r"\infty": "∞", r"\cdot": "·",
}  # fmt: skip


def plain_text(label: str) -> str:
    """A label of matplotlib, with its mathematics between dollars, as one line of letters."""
    line = " ".join(label.split("\n"))
    return re.sub(r"\$([^$]*)\$", lambda m: _letters(m[1]), line)


def _letters(tex: str) -> str:
    for name, letter in GREEK.items():
        tex = re.sub(rf"\\{name}(?![a-zA-Z])", letter, tex)
    for name, sign in sorted(_SYMBOLS.items(), key=lambda item: -len(item[0])):
        tex = tex.replace(name, sign)
    tex = re.sub(r"\\(?:mathrm|text|operatorname)\{([^{}]*)\}", r"\1", tex)
    for sign, letters in (("_", _SUBSCRIPTS), ("^", _SUPERSCRIPTS)):
        tex = re.sub(
            rf"\{sign}(?:\{{([^{{}}]*)\}}|(.))",
            lambda m, letters=letters: _scripted(m[1] if m[1] is not None else m[2], letters),
            tex,
        )
    return re.sub(r"[{}\\]", "", tex)


def _scripted(text: str, letters: dict[int, int]) -> str:
    """An index or power in small letters where all of it has them."""
    small = text.translate(letters)
    whole = all(ord(c) in letters or c in "*#" for c in text)
    sign = "_" if letters is _SUBSCRIPTS else "^"
    return small if whole else f"{sign}{text}" if len(text) == 1 else f"{sign}({text})"
