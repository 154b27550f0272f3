"""Bounds, conditions and margins of deora2023 as functions: numpy only, never trains."""
