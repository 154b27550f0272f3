"""Helper L1 writes this file."""

FINDINGS = ()
