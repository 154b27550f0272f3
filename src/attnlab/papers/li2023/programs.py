"""What a compiled run of li2023 depends on. Read by the scheduler too: no jax here."""

from typing import NamedTuple

from attnlab.papers.li2023.settings import TrainingSettings

SMALL_M = 5
BATCH_ROOM = 20
"""Batches of at most this size share a compiled program."""


class Program(NamedTuple):
    """What a compiled run depends on: shapes and switches that change the computation."""

    engine: str
    capacity: int
    L: int
    d: int
    patterns: int
    """Room for patterns: M is data above 5, and always for the exact engine."""
    classes: int
    set_size: int
    m: int
    m_a: int
    m_b: int
    heads: int
    combination: str
    skip: bool
    """For the exact engine; the collapsed one has it as data."""
    multinomial: bool
    exact_balance: bool
    initial: str
    error: str
    optimiser: str
    batch_room: int
    prunes: bool
    model_filter: bool
    test_samples: int
    probes: str
    records: int
    dtype: str


def program(cell: TrainingSettings) -> Program:
    """The program of a cell."""
    padded = cell.set_size == 1 and (cell.engine == "exact" or cell.M > SMALL_M)
    return Program(
        engine=cell.engine,
        capacity=cell.capacity,
        L=cell.L,
        d=cell.d,
        patterns=min(cell.d, cell.m_a, cell.m_b) if padded else cell.M,
        classes=cell.classes,
        set_size=cell.set_size,
        m=cell.m,
        m_a=cell.m_a,
        m_b=cell.m_b,
        heads=cell.heads,
        combination=cell.combination,
        skip=cell.skip and cell.engine == "exact",
        multinomial=cell.fractions == "multinomial",
        exact_balance=cell.balance == "exact",
        initial=cell.initial,
        error=cell.error,
        optimiser=cell.optimiser,
        batch_room=max(cell.B, BATCH_ROOM),
        prunes=cell.selector != "none" or cell.engine == "exact",
        model_filter=cell.selector == "model",
        test_samples=cell.test_samples,
        probes=cell.probes,
        records=cell.records if cell.probes == "dynamics" else 2,
        dtype=cell.dtype,
    )
