import numpy as np
import pytest
import scipy.sparse

import mercer
from mercer.cli._options import asked_for, scales_of
from mercer.cli._usage import UsageError
from mercer.cli.fitting._fit_stages import held_whole
from mercer.cli.fitting._new_estimator import built
from mercer.errors import BudgetError
from mercer.sources import ArrayBlocks, DenseSource, scan
from mercer.tables import Asked, Recipe


@pytest.mark.parametrize(
    ("method", "asked", "what"),
    [
        ("pca", Asked(target="g"), "no use for --target"),
        ("lda", Asked(target="g", category=("a",)), "no use for --as-category"),
        ("ca", Asked(groups=(("g", ("a",)),)), "no use for --group"),
        ("pca", Asked(rows_by="a"), "no use for --rows-by"),
        ("mca", Asked(columns_by="a"), "no use for --columns-by"),
        ("ca", Asked(count="n"), "--count belongs"),
        ("isomap", Asked(weights="w"), "does not weigh rows"),
        ("lda", Asked(target="g", standardize="yes"), "units make no difference"),
    ],
)
def test_options_of_other_methods_are_wrong_usage(method, asked, what):
    with pytest.raises(UsageError, match=what):
        asked_for(method, asked)


def test_groups_of_columns_are_needed_by_some_and_taken_by_no_other():
    with pytest.raises(UsageError, match="needs groups"):
        asked_for("mfa", Asked())
    groups = (("g", ("a",)),)
    assert asked_for("mfa", Asked(groups=groups)).groups == groups
    told = built("mfa", settings=["groups=[('g', ['a'])]"])
    assert asked_for("mfa", Asked(), told).groups == ()


def test_who_divides_by_the_deviations():
    assert scales_of("pca") == scales_of("kda") == "method"
    assert scales_of("ca") == scales_of("famd") == "none"
    assert scales_of("lda") == "none"
    assert scales_of("isomap") == "table"


def rows_of(source, names=("a", "b", "c")):
    import dataclasses

    @dataclasses.dataclass
    class Made:
        rows: object
        recipe: Recipe
        shape: tuple

    return Made(source, Recipe(names, names), source.shape)


def test_rows_are_held_for_methods_that_need_them_there():
    X = np.random.default_rng(0).normal(size=(9, 3))
    source = ArrayBlocks(DenseSource(X))
    whole = held_whole(rows_of(source), built("isomap"))
    assert np.array_equal(whole.rows.to_numpy(), X)
    assert held_whole(rows_of(source), built("pca")).rows is source
    with pytest.raises(BudgetError, match="in memory"):
        held_whole(rows_of(source), built("isomap", memory="200B"))


def test_sparse_rows_stay_sparse(tmp_path):
    table = scipy.sparse.random(30, 3, 0.5, format="csr", random_state=0)
    scipy.sparse.save_npz(tmp_path / "t.npz", table)
    source = scan(tmp_path / "t.npz")
    whole = held_whole(rows_of(source), built("ca"))
    assert scipy.sparse.issparse(whole.rows)
    assert np.array_equal(whole.rows.toarray(), table.toarray())
    with pytest.raises(BudgetError, match="stored cells"):
        held_whole(rows_of(source), built("ca", memory="100B"))


def test_a_model_without_a_budget_takes_what_there_is():
    X = np.ones((4, 3))
    guest = mercer.FactorAnalysis()
    made = held_whole(rows_of(ArrayBlocks(DenseSource(X))), guest)
    assert made.rows.shape == (4, 3)
