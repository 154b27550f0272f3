"""The statements of yang2024, by section of the paper."""

from attnlab.claims import Claim

CLAIMS: tuple[Claim, ...] = ()
