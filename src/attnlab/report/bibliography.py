"""References: a paper's `reference.bib`, which lies in its package, and our own entry."""

import re
from dataclasses import dataclass
from importlib.resources import files

from attnlab import __version__
from attnlab.core import Paper

OURS = f"""@software{{attnlab,
  title = {{attnlab: a laboratory for the theory of attention training}},
  author = {{{{The attnlab developers}}}},
  version = {{{__version__}}},
  note = {{Apache-2.0}}
}}
"""


@dataclass(frozen=True)
class Entry:
    """A reference: its BibTeX, and what a page shows of it."""

    bibtex: str
    title: str
    authors: tuple[str, ...]
    year: str
    url: str


def entry(paper: Paper) -> Entry:
    """The paper's own entry; without a file, one of its title and reference."""
    try:
        text = files(paper.package).joinpath("reference.bib").read_text(encoding="utf-8")
    except (FileNotFoundError, ModuleNotFoundError):
        text = ""
    if not text.strip():
        fields = f"  title = {{{paper.title}}},\n  note = {{{paper.reference}}}\n"
        text = f"@misc{{{paper.id},\n{fields}}}\n"
    fields = dict(re.findall(r"^\s*(\w+)\s*=\s*\{(.*)\},?\s*$", text, re.MULTILINE))
    names = [name for name in fields.get("author", "").split(" and ") if name]
    url = fields.get("url", "")
    return Entry(
        text,
        fields.get("title", paper.title),
        tuple(_forwards(name) for name in names),
        fields.get("year", ""),
        url if url.startswith("https://") else "",
    )


def _forwards(name: str) -> str:
    """`Li, Hongkang` is Hongkang Li."""
    last, _, first = name.strip().partition(", ")
    return f"{first} {last}".strip()
