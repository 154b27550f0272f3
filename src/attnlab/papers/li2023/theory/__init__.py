"""Conditions and bounds of li2023 as functions of the sizes. Nothing here trains."""
