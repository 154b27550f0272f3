"""The statements of li2023, by section of the paper."""

from attnlab.claims import Claim

CLAIMS: tuple[Claim, ...] = ()
