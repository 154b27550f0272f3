"""Runs of li2023: a cell and a key in, a record out."""
