"""Figures inside the page: matplotlib's SVG without what it repeats, in the page's own colours."""

import re

GLYPH = re.compile(r'<path id="([\w.]+-[0-9a-f]+)" d="[^"]*"[^>]*/>')
DROPPED = re.compile(
    r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>|<style.*?</style>|<defs>\s*</defs>",
    re.DOTALL,
)
THEMED = {"#000000": "currentColor", "#ffffff": "var(--paper)"}


def inline(svg: str, prefix: str, label: str, glyphs: dict[str, str]) -> str:
    """An SVG for the middle of a page; the letters that it draws go into `glyphs`, once for all.

    `prefix` makes its own identifiers unlike those of other figures.
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
    text = re.sub(
        r'(href="|url\()#([\w.\-]+)',
        lambda m: f"{m[1]}#{slug}-{m[2]}" if m[2] in own else m[0],
        text,
    )
    text = _in_the_page_s_colours(text)
    text = re.sub(r"\n\s*", " ", text).replace("xlink:href", "href")
    text = re.sub(r"(\d+\.\d{2})\d+", r"\1", text)
    return re.sub(
        r"<svg[^>]*?(viewBox=\"[^\"]*\")[^>]*>",
        lambda m: f'<svg class="drawn" {m[1]} role="img" aria-label="{escape(label)}">',
        text.strip(),
        count=1,
    )


def _in_the_page_s_colours(text: str) -> str:
    """Black is the ink and white the paper, but for the tiles of a map, whose shades are values."""
    pieces = re.split(r'(<g class="mesh">.*?</g>)', text, flags=re.DOTALL)
    for i in range(0, len(pieces), 2):
        for colour, name in THEMED.items():
            pieces[i] = pieces[i].replace(colour, name)
    return "".join(pieces)


def glyph_sheet(glyphs: dict[str, str]) -> str:
    """The letters of all figures, shown nowhere."""
    shapes = "".join(re.sub(r"\s*\n\s*", " ", glyphs[name]) for name in sorted(glyphs))
    return (
        f'<svg width="0" height="0" aria-hidden="true" class="glyphs"><defs>{shapes}</defs></svg>'
    )
