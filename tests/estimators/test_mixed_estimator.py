import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from mixed_tables import mixed_frame

import mercer
from mercer import FAMD, MFA
from mercer.errors import InputError


@pytest.mark.parametrize("kind", [FAMD, MFA])
def test_columns_are_those_of_the_fit(kind):
    given = mixed_frame(40)
    model = kind().fit(given)
    with pytest.raises(InputError, match="feature"):
        model.transform(given[given.columns[:-1]])
    with pytest.raises(InputError, match="feature names"):
        model.transform(given[given.columns[::-1]])
    with pytest.raises(InputError, match="Reshape"):
        model.transform(given.to_numpy(object)[0])
    assert model.feature_names_in_.tolist() == list(given.columns)
    assert model.n_features_in_ == given.shape[1]


@pytest.mark.parametrize("kind", [FAMD, MFA])
def test_files_and_sparse_rows_are_refused(kind, tmp_path):
    with pytest.raises(InputError, match=r"[Ss]parse"):
        kind().fit(scipy.sparse.eye_array(4).tocsr())
    with pytest.raises(InputError, match="rows in memory"):
        kind().fit(tmp_path / "table.csv")


def test_columns_may_be_numbered():
    given = mixed_frame(40)
    numbered = given.set_axis(range(given.shape[1]), axis=1)
    found = FAMD().fit(numbered)
    np.testing.assert_allclose(found.eigenvalues_, FAMD().fit(given).eigenvalues_)
    assert found.variables_[0] == "0"


def test_supplementary_columns_change_nothing_and_agree_with_active_ones():
    given = mixed_frame()
    model = FAMD(3).fit(given)
    found = model.supplementary(given)
    np.testing.assert_allclose(found.correlations, model.correlations_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.v_tests, model.v_tests_, rtol=0, atol=1e-8)
    assert list(found.levels) == model.column_names_[4:]
    with pytest.raises(InputError, match="3 rows, 120 at fit"):
        model.supplementary(given.iloc[:3])
    noise = pd.DataFrame(
        {"flat": np.ones(120), "gap": np.where(np.arange(120) < 3, np.nan, 1.0)}
    )
    model.supplementary(noise)


def test_a_plan_says_what_a_fit_will_do():
    given = mixed_frame()
    assert mercer.plan(FAMD(2), given).problem.cols == 4 + 10
    assert FAMD(2).fit(given).plan_.problem.rows == 120


@pytest.mark.parametrize("path", ["svd", "gram", "krylov"])
def test_every_path_finds_the_same_axes(path):
    given = mixed_frame(300).assign(id=np.repeat([f"g{i}" for i in range(60)], 5))
    expected = FAMD(2).fit(given)
    model = type("Forced", (FAMD,), {"_allowed": lambda _: (path,)})(2, tol=1e-9).fit(given)
    assert model.plan_.chosen.name == path
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-7)
    np.testing.assert_allclose(
        model.row_coordinates_, expected.row_coordinates_, rtol=0, atol=1e-3
    )
    assert np.all(model.certificate_.lower <= expected.eigenvalues_ * (1 + 1e-9))
