"""Figures inside the page: matplotlib's SVG without what it repeats, in the page's own colours."""

import re

GLYPH = re.compile(r'<path id="([\w.\-]+-[0-9a-f]+)" d="[^"]*"[^>]*/>')
DIGITS = re.compile(r"(?<![\d.#])(0\.0*[1-9]\d{2}|[1-9]\d*\.\d{2})\d+")
"""Two decimals, or three digits of what is less than one: a letter's scale is 0.0156."""
DROPPED = re.compile(
    r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>|<style.*?</style>|<defs>\s*</defs>",
    re.DOTALL,
)
THEMED = {"#000000": "currentColor", "#ffffff": "var(--paper)"}


def inline(
    svg: str, prefix: str, label: str, glyphs: dict[str, str], styles: dict[str, str]
) -> str:
    """An SVG for the middle of a page; its letters and styles go into `glyphs` and `styles`.

    Each is then in the page once, whatever the number of figures. `prefix` makes its own
    identifiers unlike those of other figures.
    """
    from markupsafe import escape

    text = re.sub(r'<g id="QuadMesh_\d+"', '<g class="mesh"', DROPPED.sub("", svg))
    for found in GLYPH.finditer(text):
        glyphs.setdefault(found[1], found[0])
    text = GLYPH.sub("", text)
    text = DROPPED.sub("", text)
    used = set(re.findall(r'(?:href="|url\()#([\w.\-]+)', text))
    own = used - set(glyphs)
    slug = re.sub(r"\W", "-", prefix)
    text = re.sub(
        r' id="([\w.\-]+)"', lambda m: f' id="{slug}-{m[1]}"' if m[1] in own else "", text
    )
    short = _short_names(glyphs) | {name: f"{slug}-{name}" for name in own}
    text = re.sub(r'(href="|url\()#([\w.\-]+)', lambda m: f"{m[1]}#{short[m[2]]}", text)
    text = re.sub(r'(<use [^>]*) transform="translate\(([\d.]+) 0\)"/>', r'\1 x="\2"/>', text)
    text = _in_the_page_s_colours(text)
    text = re.sub(r"\s*\n\s*", " ", text).replace("xlink:href", "href")
    text = re.sub(r' style="([^"]*)"', lambda m: f' class="{_named(m[1], styles)}"', text)
    text = re.sub(r' d="([^"]*)"', lambda m: f' d="{_shortened(m[1])}"', text)
    text = DIGITS.sub(r"\1", text).replace("> <", "><")
    return re.sub(
        r"<svg[^>]*?(viewBox=\"[^\"]*\")[^>]*>",
        lambda m: f'<svg class="drawn" {m[1]} role="img" aria-label="{escape(label)}">',
        text.strip(),
        count=1,
    )


def _short_names(glyphs: dict[str, str]) -> dict[str, str]:
    """A letter's name in the page: by its place, which later figures do not change."""
    return {name: f"g{place}" for place, name in enumerate(glyphs)}


def _named(style: str, styles: dict[str, str]) -> str:
    """The class that stands for a style."""
    return styles.setdefault(style, f"f{len(styles)}")


def _shortened(path: str) -> str:
    """A path without blanks that it does not need; a tenth of a point is finer than a screen."""
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", re.sub(r"(\d\d\.\d)\d+", r"\1", path)).strip()


def style_sheet(styles: dict[str, str]) -> str:
    """The styles of all figures, which win over the page's own rules for pictures."""
    return "".join(f".drawn .{name}{{{style}}}" for style, name in styles.items())


def _in_the_page_s_colours(text: str) -> str:
    """Black is the ink and white the paper, but for the tiles of a map, whose shades are values."""
    pieces = re.split(r'(<g class="mesh">.*?</g>)', text, flags=re.DOTALL)
    for i in range(0, len(pieces), 2):
        for colour, name in THEMED.items():
            pieces[i] = pieces[i].replace(colour, name)
    return "".join(pieces)


def glyph_sheet(glyphs: dict[str, str]) -> str:
    """The letters of all figures, shown nowhere."""
    shapes = "".join(
        re.sub(r' id="[^"]*"', f' id="{short}"', re.sub(r"\s*\n\s*", " ", glyphs[name]), count=1)
        for name, short in _short_names(glyphs).items()
    )
    return (
        f'<svg width="0" height="0" aria-hidden="true" class="glyphs"><defs>{shapes}</defs></svg>'
    )
