"""The statements of deora2023, by section of the paper."""

from attnlab.claims import Claim

CLAIMS: tuple[Claim, ...] = ()
