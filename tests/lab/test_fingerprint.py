"""Which edits make a record stale: those of what its run imports, and no others."""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from attnlab.core import BadInput
from attnlab.lab import fingerprint, plan, registry
from attnlab.lab.ledger import Ledger

PROGRAM = '''
"""Module."""
def f(x):
    """Doc."""
    # why
    return x + 1
class A:
    """Doc."""
    y: int = 1
    """Doc of y."""
    z: int = setting(2, origin="paper", help="Doc", symbol="Doc", shape=True)
    v: int = setting(3, alternatives={3: "Doc"})
    w: int = core.setting(4, origin="ours", help="Doc", samples=False, idle=lambda cell: cell.z)
'''


@pytest.mark.parametrize(
    "old_new",
    [
        ("Doc", "Other words"),
        ("# why\n", "# because\n\n"),
        ('origin="paper"', 'origin="inferred"'),
        ('{3: "Doc"}', '{4: "Doc", 5: ""}'),
        (', symbol="Doc"', ""),
    ],
)
def test_documentation_layout_and_the_prose_of_settings_do_not_count(old_new):
    other = PROGRAM.replace(*old_new)
    assert other != PROGRAM
    assert fingerprint.normal_form(PROGRAM) == fingerprint.normal_form(other)


@pytest.mark.parametrize(
    "old_new",
    [
        ("x + 1", "x + 2"),
        ("int = 1", "int = 3"),
        ("f(x", "f(z"),
        ("setting(2", "setting(3"),
        (", shape=True", ""),
        ("samples=False", "samples=True"),
        ("cell.z", "cell.w"),
    ],
)
def test_formulas_names_defaults_and_what_a_draw_or_program_depends_on_do_count(old_new):
    other = PROGRAM.replace(*old_new)
    assert other != PROGRAM
    assert fingerprint.normal_form(PROGRAM) != fingerprint.normal_form(other)


# --- the closure, on a small package ----------------------------------------------------------

FILES = {
    "attnlab/__init__.py": "from attnlab import facade",
    "attnlab/facade.py": "",
    "attnlab/core.py": """
if typing.TYPE_CHECKING:
    import attnlab.court
else:
    import attnlab.nouns
""",
    "attnlab/court.py": "",
    "attnlab/nouns.py": "",
    "attnlab/selection.py": "",
    "attnlab/engines/__init__.py": "from attnlab.engines import unused",
    "attnlab/engines/gram.py": "from . import gram_rows\nfrom ..numerics import random",
    "attnlab/engines/gram_rows.py": "",
    "attnlab/engines/symmetric.py": "from attnlab.engines.sectors import *",
    "attnlab/engines/sectors.py": """
try:
    import attnlab.models.fast
except ImportError:
    import attnlab.models.slow
""",
    "attnlab/engines/unused.py": "",
    "attnlab/models/slow.py": "",
    "attnlab/numerics/__init__.py": "from attnlab.numerics.derivatives import gradient",
    "attnlab/numerics/derivatives.py": "",
    "attnlab/numerics/random.py": "",
    "attnlab/probes/__init__.py": "from .rates import rate",
    "attnlab/probes/rates.py": "",
    "paper/__init__.py": "from paper import claims",
    "paper/claims.py": "",
    "paper/runs.py": """
from typing import TYPE_CHECKING
import jax, attnlab.core, other
from attnlab import selection
from attnlab.engines import gram, symmetric
from paper.theory import formula
if TYPE_CHECKING:
    from paper.figures import Figure
def run(cell, key):
    import attnlab.probes as probes
    from .late import finish
""",
    "paper/figures.py": "",
    "paper/late.py": "",
    "paper/settings.py": "from attnlab.core import setting",
    "paper/theory.py": "formula = 1",
    "paper/other_runs.py": "from paper import *",
    "paper/broken.py": "def",
    "other/__init__.py": "import paper.figures",
}  # fmt: skip
CLOSURE = [
    "attnlab.core",
    "attnlab.engines.gram",
    "attnlab.engines.gram_rows",
    "attnlab.engines.sectors",
    "attnlab.engines.symmetric",
    "attnlab.models.slow",
    "attnlab.nouns",
    "attnlab.numerics.random",
    "attnlab.probes",
    "attnlab.probes.rates",
    "attnlab.selection",
    "paper.late",
    "paper.runs",
    "paper.settings",
    "paper.theory",
]


@pytest.fixture
def small(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def code_in(folder: Path) -> fingerprint.Code:
    return fingerprint.Code(lambda package: [folder / package])


def test_what_a_run_imports(small):
    assert code_in(small).closure("paper.runs:run", "paper.settings:Settings") == CLOSURE


@pytest.mark.parametrize("file", FILES)
def test_an_edit_counts_where_the_closure_has_its_module(small, file):
    def now() -> str:
        return code_in(small).fingerprint("paper.runs:run", "paper.settings:Settings")

    before = now()
    path = small / file
    path.write_text('"""Said."""\n' + path.read_text() + "\n# a comment\n")
    assert now() == before
    path.write_text(path.read_text() + "\nADDED = 1\n")
    module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    assert (now() != before) is (module in CLOSURE)


def test_a_package_that_is_named_itself_counts_with_what_it_imports(small):
    closure = code_in(small).closure("paper.other_runs:run")
    assert closure == ["paper", "paper.claims", "paper.other_runs"]


def test_which_function_is_run_and_with_which_settings_counts(small):
    code = code_in(small)
    names = [
        ("paper.runs:run", "paper.settings:Settings"),
        ("paper.runs:walk", "paper.settings:Settings"),
        ("paper.runs:run", "paper.settings:Other"),
    ]
    assert len({code.fingerprint(*two) for two in names}) == 3


def test_a_package_is_seen_as_it_was_when_it_was_first_looked_at(small):
    code = code_in(small)
    code.closure("paper.settings:Settings")
    (small / "paper/runs.py").write_text("import attnlab.facade")
    assert code.closure("paper.runs:run", "paper.settings:Settings") == CLOSURE
    assert "attnlab.facade" in code_in(small).closure("paper.runs:run")


def test_what_cannot_be_read_is_refused_with_a_sentence(small):
    with pytest.raises(BadInput, match=r"no module 'paper\.gone' is in the package 'paper'"):
        code_in(small).fingerprint("paper.gone:run")
    with pytest.raises(BadInput, match=r"broken\.py is not a Python program: invalid syntax"):
        code_in(small).fingerprint("paper.broken:run")
    for name in ("no_such_package_anywhere", "__main__", "sys"):
        with pytest.raises(BadInput, match="cannot be found; install it again"):
            fingerprint.places(name)


def test_a_module_may_be_a_single_file_and_a_package_may_lie_in_two_places(small, tmp_path):
    (tmp_path / "alone.py").write_text("import attnlab.selection")
    two = {"attnlab": [small / "attnlab"], "alone": [tmp_path / "alone.py"]}
    closure = fingerprint.Code(two.__getitem__).closure("alone:run")
    assert closure == ["alone", "attnlab.selection"]
    (tmp_path / "first").mkdir()
    (tmp_path / "first/runs.py").write_text("FIRST = 1")
    two = {"attnlab": [small / "attnlab"], "paper": [tmp_path / "first", small / "paper"]}
    assert fingerprint.Code(two.__getitem__).closure("paper.runs:run") == ["paper.runs"]
    assert "attnlab.core" in fingerprint.Code(two.__getitem__).closure("paper.settings:Settings")


# --- the papers -------------------------------------------------------------------------------

STUDIES = [study for paper in registry.papers().values() for study in paper.studies]
READERS = ("scalars", "hypotheses", "claims", "figures", "studies", "designs")


@pytest.fixture(scope="module")
def closures():
    """The modules that each study's records rest on."""
    code = fingerprint.Code(fingerprint.places)
    return {s.id: code.closure(s.run, fingerprint.settings_name(s.settings)) for s in STUDIES}


@pytest.mark.parametrize(
    ("module", "papers"),
    [
        ("attnlab.cells", {"deora2023", "li2023", "toy", "yang2024"}),
        ("attnlab.numerics.lanczos", {"deora2023"}),
        ("attnlab.probes.lucky_neurons", {"li2023"}),
        ("attnlab.probes.word_scores", {"yang2024"}),
        ("attnlab.engines.gram_neurons", {"yang2024"}),
        ("attnlab.selection", {"li2023"}),
        ("attnlab.lab.worker", set()),
        ("attnlab.report.page", set()),
        ("attnlab_toy.runs", {"toy"}),
        ("attnlab_toy.settings", {"toy"}),
        ("attnlab_toy.claims", set()),
        ("attnlab_toy.studies", set()),
    ],
)
def test_of_which_papers_an_edit_makes_records_stale(closures, module, papers):
    assert find_spec(module)
    assert {study.partition(".")[0] for study in closures if module in closures[study]} == papers


@pytest.mark.parametrize("paper", ["deora2023", "li2023", "yang2024"])
def test_no_record_of_ours_rests_on_what_only_reads_records(closures, paper):
    # Else an edit of a claim or a figure would cost its paper all its records.
    for study in registry.paper(paper).studies:
        for module in closures[study.id]:
            _, part, *rest = module.split(".")
            assert part not in ("claims", "evidence", "lab", "report", "commands", "cli"), study.id
            if part == "papers":
                assert rest[0] == paper
                assert len(rest) > 1, f"{study.id} rests on all that {module} imports"
                assert rest[1] not in READERS, study.id


def test_a_plan_reads_each_file_once_and_imports_nothing(monkeypatch):
    read, program = [], fingerprint._program
    monkeypatch.setattr(fingerprint, "_program", lambda tree: read.append(tree) or program(tree))
    code = fingerprint.Code(fingerprint.places)
    monkeypatch.setattr(fingerprint, "_installed", code)
    fingerprint.code.cache_clear()
    imported = set(sys.modules)
    for study in STUDIES * 200:  # as many as a plan of all papers has tasks
        fingerprint.of(study)
    assert len(read) == len(code._modules) > 50
    assert set(sys.modules) == imported


def test_the_ledger_files_records_under_the_code_of_their_study():
    (task, *_) = plan.tasks_for(["toy.overshoot"], plan.Request("smoke"))
    code = fingerprint.code("attnlab_toy.runs:descend", "attnlab_toy.settings:ToySettings")
    assert Ledger._key(task) == (task.identity, code, fingerprint.stack())


def test_the_stack_names_every_package_that_decides_bits():
    for name in ("jax", "jaxlib", "diffrax", "equinox", "optax", "numpy", "scipy"):
        assert f"{name}=" in fingerprint.stack()
    assert "jax=0.10.1" in fingerprint.stack()
