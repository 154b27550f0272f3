"""Helper L1 writes this file."""

SECTION_3_3 = ()
