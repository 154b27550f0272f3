"""The figures of deora2023."""

FIGURES = ()
