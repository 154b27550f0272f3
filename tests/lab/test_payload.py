import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from attnlab.lab import payload

values = st.dictionaries(
    st.text(max_size=5),
    st.one_of(
        st.text(max_size=5),
        arrays.arrays(
            st.sampled_from([np.float64, np.float32, np.int64, np.bool_]),
            arrays.array_shapes(min_dims=0, max_dims=3, max_side=4),
        ),
    ),
    max_size=4,
)


@given(values)
def test_round_trip_and_canonical_bytes(table):
    data = payload.encode(table)
    back = payload.decode(data)
    assert payload.encode(back) == data
    assert payload.encode(dict(reversed(table.items()))) == data
    for name, value in table.items():
        if isinstance(value, str):
            assert back[name] == value
        else:
            np.testing.assert_array_equal(back[name], value)
            assert back[name].dtype == value.dtype


def test_byte_order_and_memory_layout_do_not_matter():
    array = np.arange(6.0).reshape(2, 3)
    other = np.asfortranarray(array).astype(">f8")
    assert payload.encode({"x": array}) == payload.encode({"x": other})


def test_one_bit_changes_the_digest():
    one = payload.encode({"x": 1.0})
    next_to_one = payload.encode({"x": np.nextafter(1.0, 2.0)})
    assert payload.digest(one, "") != payload.digest(next_to_one, "")
    assert payload.digest(one, "") != payload.digest(one, "grew")


def test_what_a_record_cannot_hold():
    with pytest.raises(TypeError, match="holds numbers"):
        payload.encode({"x": object()})
    with pytest.raises(ValueError, match="over the limit of 16 MB"):
        payload.encode({"x": np.zeros(3 * 2**20)})
