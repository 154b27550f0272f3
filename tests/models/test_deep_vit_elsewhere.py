"""The deep vision transformer on data that are no images: patterns that vote, own arrays."""

import numpy as np

import attnlab as al

SMALL = {"blocks": 2, "heads": 2, "width": 8, "hidden": 8}


def test_it_learns_a_majority_vote_of_patterns_and_tells_their_roles():
    votes = al.PatternVote(L=20, alpha_star=0.4, alpha_sharp=0.1)
    model = al.DeepViT(pooling="class", **SMALL)
    engine, state = al.start(model, votes.sample(0, 32), test=votes.sample(1, 32))
    rule = al.optimiser("adam", 5e-3)
    run = al.descend(engine, state, rule, steps=80, minibatch=8, probes=[al.probes.margins])
    assert run.score(run.test).accuracy > 0.95
    assert run.series["loss"][-1] < 0.1 * run.series["loss"][0]
    fewer = al.select_tokens(
        run.batch, "irrelevant", 0.4, model=run.model, parameters=run.parameters
    )
    assert set(np.asarray(fewer.roles)[np.asarray(fewer.kept)]) == {0}


def test_it_takes_own_arrays():
    random = np.random.default_rng(0)
    y = np.where(np.arange(12) % 2 == 0, 1, -1)
    X = random.normal(size=(12, 6, 5)) + y[:, None, None]
    engine, state = al.start(al.DeepViT(**SMALL), al.Batch.of(X, y))
    run = al.descend(engine, state, al.optimiser("adam", 5e-3), steps=40)
    assert run.score(X, y).accuracy == 1
