"""A pytest plugin: the first counterexample kills a mutant; nobody reads a shorter one."""

from hypothesis import Phase, settings

settings.register_profile(
    "mutation",
    phases=[Phase.explicit, Phase.generate],
    derandomize=True,
    database=None,
    deadline=None,
)
settings.load_profile("mutation")
