"""Which settings of yang2024 are shapes of the compiled run, and which are data."""

from dataclasses import replace

from attnlab.cells import program
from attnlab.papers.yang2024.settings import ClassSettings, SoftmaxSettings, TrainingSettings
from attnlab.papers.yang2024.studies.resolving import resolve
from attnlab.papers.yang2024.studies.training import LATE, SMALL
from attnlab.training.inputs import compiled


def programs(*cells) -> int:
    return len({program(resolve(cell)) for cell in cells})


def test_on_grams_every_width_phase_and_control_is_one_program():
    narrow = replace(SMALL, attention="frozen", labels="shuffled", c0=0.01, rtol=1e-8)
    assert programs(SMALL, replace(SMALL, m=2**20), LATE, narrow) == 1
    # Single neurons are followed one by one, and a step more is another list of records.
    assert programs(SMALL, replace(SMALL, m1=32)) == 2
    words = replace(SMALL, probes="words")
    assert programs(words, replace(words, m1=32)) == 1


def test_on_weights_every_width_is_one_of_its_own():
    cell = replace(SMALL, engine="weights", method="descent")
    assert programs(cell, replace(cell, learning_rate=0.1)) == 1
    assert programs(cell, replace(cell, m=64), replace(cell, m1=8), replace(cell, steps=9)) == 4


def test_a_flow_has_no_steps():
    assert programs(SMALL, replace(SMALL, steps=7)) == 1


def test_classes_of_words_are_one_program():
    cells = (ClassSettings(), ClassSettings(n=12, L=9, m=64, m1=8, c0=1.0, target_loss=1e-3))
    assert len({program(cell) for cell in cells}) == 1


def test_shapes_are_numbers_and_the_rest_is_data():
    inputs = compiled(resolve(TrainingSettings(n=12, L=4)))
    assert (inputs.n, inputs.engine, inputs.width, inputs.last_step) == (12, "gram", (), 0)
    assert inputs.horizon == 100.0
    assert inputs.labels.is_("true")
    assert not compiled(SoftmaxSettings()).jacobian.is_("diagonal")
