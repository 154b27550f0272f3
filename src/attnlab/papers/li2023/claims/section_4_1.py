"""Helper L1 writes this file."""

SECTION_4_1 = ()
