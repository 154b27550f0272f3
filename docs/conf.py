"""The documentation's site: `make docs` builds it into docs/_build/html, any warning is fatal."""

from attnlab import __version__

project = "attnlab"
author = "the authors of attnlab"
release = version = __version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
exclude_patterns = ["_build", "jupyter_execute"]
html_theme = "furo"
html_title = "attnlab"
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4
# The examples are executed when the site is built; one that raises stops the build.
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_execution_in_temp = True
nb_execution_show_tb = True
nb_merge_streams = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# Pages are also read in the repository, where these links are to files beside the site.
suppress_warnings = ["misc.highlighting_failure"]


def setup(app):
    """Write a page for each installed paper before anything is read."""
    app.connect("builder-inited", lambda app: _write_papers(app.srcdir))


def _write_papers(source: str) -> None:
    from pathlib import Path

    from attnlab.lab import registry

    folder = Path(source) / "papers"
    folder.mkdir(exist_ok=True)
    for paper in registry.papers().values():
        (folder / f"{paper.id}.md").write_text(_page(paper, Path(source)), encoding="utf-8")


def _page(paper, source) -> str:
    from attnlab.lab import registry

    lines = [f"# {paper.id}: {paper.title}", "", paper.reference, ""]
    if (source / f"{paper.id}.md").exists():
        lines += [f"What is read how, engines and errata: [notes](../{paper.id}.md).", ""]
    rows = [(c.id, c.kind, c.title, c.stated) for c in paper.claims]
    lines += _table("Statements", ("id", "kind", "statement", "stated"), rows)
    lines += _table("Figures", ("id", "shows"), [(f.id, f.title) for f in paper.figures])
    rows = [(a.id, a.title) for a in registry.assumptions(paper)]
    lines += _table("Hypotheses", ("id", "says"), rows)
    lines += _table("Studies", ("id", "runs"), [(s.id, s.summary) for s in paper.studies])
    return "\n".join(lines)


def _table(title, names, rows) -> list[str]:
    def cell(text) -> str:
        # As code: the papers' letters (alpha_*, |x|) are no markup.
        return f"`{text}`" if text else ""

    if not rows:
        return []
    lines = [f"## {title}", "", _row(names), _row("---" for _ in names)]
    lines += [_row([cell(first), *map(_plain, rest)]) for first, *rest in rows]
    return [*lines, ""]


def _row(cells) -> str:
    return "| " + " | ".join(cells) + " |"


def _plain(text: str) -> str:
    for mark in "\\`*_$|<>[]":
        text = text.replace(mark, f"\\{mark}")
    return text
