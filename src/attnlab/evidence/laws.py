"""The laws of the court: what a part may say of a scalar, and how an interval decides it.

A law takes runs and a scalar and returns an outcome with the number that it rests on. The cutoff
of a law belongs to the paper or to us; one of ours can be moved, and the court moves it (the flip
test). A run that diverged, or in which the scalar is not a number, never speaks for a law.

This is the one place to import them from; thresholds and pairs have modules of their own.
"""

from attnlab.evidence.axis_laws import Monotone as Monotone
from attnlab.evidence.axis_laws import Power as Power
from attnlab.evidence.axis_laws import Straight as Straight
from attnlab.evidence.level_laws import MISSING as MISSING
from attnlab.evidence.level_laws import ROUNDING as ROUNDING
from attnlab.evidence.level_laws import SIGNIFICANT as SIGNIFICANT
from attnlab.evidence.level_laws import AtLeast as AtLeast
from attnlab.evidence.level_laws import AtMost as AtMost
from attnlab.evidence.level_laws import Between as Between
from attnlab.evidence.level_laws import Equal as Equal
from attnlab.evidence.level_laws import Over as Over
from attnlab.evidence.level_laws import Range as Range
from attnlab.evidence.level_laws import Rate as Rate
from attnlab.evidence.level_laws import Relation as Relation
from attnlab.evidence.level_laws import Share as Share
from attnlab.evidence.level_laws import axis as axis
from attnlab.evidence.level_laws import missing_finding as missing_finding
from attnlab.evidence.level_laws import stored as stored
from attnlab.evidence.level_laws import values_of as values_of
