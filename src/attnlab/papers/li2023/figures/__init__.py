"""The figures of li2023."""

FIGURES = ()
