import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition

from mercer.dropin.pca import (
    SparseSolverError,
    check_number,
    refuse_sparse,
    resolve,
    takes_sparse,
)

Peer = sklearn.decomposition.PCA
SHAPES = [(10, 50), (300, 20), (600, 20), (599, 60), (60, 520), (40, 30), (510, 80)]
TALL = [(300, 20), (600, 20), (40, 30), (520, 60)]


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        *((shape, k) for shape in SHAPES for k in (None, 2, 8, 9, 0.5)),
        *((s, "mle") for s in TALL),
    ],
    ids=str,
)
def test_auto_stands_for_the_solver_that_scikit_learn_takes(shape, wanted):
    X = np.random.default_rng(0).normal(size=shape)
    taken = Peer(wanted, random_state=0).fit(X)._fit_svd_solver
    assert resolve("auto", wanted, shape, sparse=False) == taken


def test_auto_stands_for_arpack_where_data_is_sparse():
    X = scipy.sparse.random(50, 20, 0.2, format="csr", random_state=0)
    taken = Peer(2, random_state=0).fit(X)._fit_svd_solver
    assert resolve("auto", 2, X.shape, sparse=True) == taken == "arpack"


def test_a_named_solver_stands_for_itself():
    assert resolve("full", None, (1000, 10), sparse=False) == "full"


@pytest.mark.parametrize("solver", ["auto", "arpack", "covariance_eigh"])
def test_these_solvers_take_sparse_data(solver):
    assert takes_sparse(solver)
    refuse_sparse(solver)


@pytest.mark.parametrize("solver", ["full", "randomized"])
def test_the_others_refuse_it_with_a_type_error_in_three_lines(solver):
    assert not takes_sparse(solver)
    with pytest.raises(SparseSolverError, match=f'while "{solver}" was passed') as caught:
        refuse_sparse(solver)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).count("\n") == 2


@pytest.mark.parametrize(
    ("solver", "wanted"),
    [
        ("full", 0),
        ("full", 5),
        ("full", None),
        ("full", "mle"),
        ("full", 0.3),
        ("covariance_eigh", 5),
        ("arpack", 4),
        ("arpack", None),
        ("randomized", 1),
        ("randomized", 5),
    ],
)
def test_numbers_that_scikit_learn_takes_are_taken(solver, wanted):
    X = np.random.default_rng(0).normal(size=(20, 5))
    Peer(wanted, svd_solver=solver).fit(X)
    check_number(solver, solver, wanted, X.shape)


@pytest.mark.parametrize(
    ("solver", "wanted"),
    [
        ("full", 6),
        ("covariance_eigh", 6),
        ("arpack", 0),
        ("arpack", 5),
        ("arpack", 6),
        ("arpack", 0.5),
        ("arpack", "mle"),
        ("randomized", 0),
        ("randomized", 6),
        ("randomized", 0.5),
        ("randomized", "mle"),
    ],
)
def test_numbers_that_scikit_learn_refuses_are_refused_in_its_words(solver, wanted):
    X = np.random.default_rng(0).normal(size=(20, 5))
    with pytest.raises(ValueError, match="n_components") as theirs:
        Peer(wanted, svd_solver=solver).fit(X)
    with pytest.raises(ValueError, match="n_components") as ours:
        check_number(solver, solver, wanted, X.shape)
    assert str(ours.value).splitlines()[0] == str(theirs.value)
    assert str(ours.value).count("\n") == 2
