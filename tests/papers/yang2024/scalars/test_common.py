"""Every stored scalar of yang2024 asks a record for a key, not for its own name in words."""

import pytest

from attnlab.claims import Scalar
from attnlab.core import Record
from attnlab.papers.yang2024.scalars import initial, phase_1, phase_2, samples


class Asked(dict):
    """Values that are all 1, and which were asked for."""

    def __init__(self):
        super().__init__()
        self.keys_asked: list[str] = []

    def __getitem__(self, key: str) -> float:
        self.keys_asked.append(key)
        return 1.0


def stored(module) -> dict[str, Scalar]:
    found = {}
    for name, value in vars(module).items():
        many = value if isinstance(value, dict) else {"": value}
        found |= {f"{name}{k}": x for k, x in many.items() if isinstance(x, Scalar)}
    return found


@pytest.mark.parametrize("module", [initial, phase_1, phase_2, samples])
def test_keys_are_names_and_words_are_words(module):
    scalars = stored(module)
    assert scalars
    for name, scalar in scalars.items():
        asked = Asked()
        try:
            scalar.of(Record("", None, 0, asked))
        except (AttributeError, TypeError, IndexError):
            continue  # reads the cell or a series: it has a test of its own
        assert asked.keys_asked, name
        assert all(key.isidentifier() for key in asked.keys_asked), name
