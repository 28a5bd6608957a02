"""What every estimator keeps: parameters, state, plan, accuracy."""

import logging
import pickle
import re

import numpy as np
import pytest
import sklearn.decomposition
from sklearn.exceptions import NotFittedError

import mercer
from mercer import PCA, LandmarkFeatures, RandomFeatures, dropin
from mercer.arrays import anonymous_bytes, parse_bytes
from mercer.errors import BudgetError, InputError, NotSupportedError


class TestParameters:
    def test_the_interface(self):
        names = (
            "device feature_weight forget memory missing n_components random_state sign"
            " standardize time tol whiten"
        )
        assert sorted(PCA().get_params()) == names.split()
        with pytest.raises(TypeError):
            PCA(3, True)

    def test_other_devices_are_not_built_yet(self, table):
        with pytest.raises(NotSupportedError, match="CPU"):
            PCA(device="cuda").fit(table)
        PCA(device="cpu").fit(table)

    def test_a_failed_first_fit_leaves_nothing(self, table):
        model = PCA(20)
        with pytest.raises(InputError):
            model.fit(table)
        assert not [name for name in vars(model) if name.endswith("_")]

    def test_a_new_fit_forgets_the_old_one(self, table):
        pandas = pytest.importorskip("pandas")
        model = PCA(2, standardize=True).fit(pandas.DataFrame(table, columns=list("abcdefgh")))
        assert hasattr(model, "feature_names_in_")
        model.set_params(standardize=False)
        model.fit(table[:, :5])
        assert not hasattr(model, "feature_names_in_")
        assert model.n_features_in_ == 5
        assert model.scale_ is None

    def test_a_model_is_small(self, rng):
        x = rng.standard_normal((20_000, 30))
        assert len(pickle.dumps(PCA(3).fit(x))) < 50_000


class TestPlan:
    def test_it_can_be_asked_without_fitting(self, table):
        model = PCA(2, memory="1GB")
        made = mercer.plan(model, table)
        assert not hasattr(model, "components_")
        assert not hasattr(model, "n_features_in_")
        assert made == model.fit(table).plan_
        assert made.problem.rows == 120
        assert made.problem.memory == 10**9

    def test_it_is_logged_and_nothing_is_printed(self, table, caplog, capfd):
        with caplog.at_level(logging.INFO, logger="mercer"):
            model = PCA(2).fit(table)
        assert [r.name for r in caplog.records] == ["mercer"]
        assert caplog.records[0].getMessage() == str(model.plan_)
        assert capfd.readouterr() == ("", "")

    def test_a_fallback_is_logged(self, forced, caplog, rng):
        kind = type("Either", (PCA,), {"_allowed": lambda _self: ("gram", "svd")})
        x = rng.standard_normal((4000, 200)) * np.geomspace(1, 1e-5, 200)
        with caplog.at_level(logging.INFO, logger="mercer"):
            model = kind().fit(x)
        assert model.plan_.chosen.name == "gram"
        assert "next: svd" in caplog.text
        assert model.certificate_.met
        assert forced("gram")

    def test_memory_is_refused_before_it_is_taken(self, rng):
        x = rng.standard_normal((1500, 800)) * np.geomspace(1, 1e-4, 800)
        before = anonymous_bytes()
        with pytest.raises(BudgetError) as caught:
            PCA(3, memory="50kB").fit(x)
        assert anonymous_bytes() - before < 5e6
        enough = re.search(r'memory="([^"]+)"', caught.value.fix)[1]
        assert parse_bytes(enough) > 50_000
        PCA(3, memory=enough).fit(x)

    def test_memory_as_a_number_or_a_text(self, table):
        for memory in (10**9, "1GB", "1GiB", 1e9, np.int64(10**9)):
            assert PCA(2, memory=memory).fit(table).plan_.problem.memory >= 10**9

    def test_too_little_time_is_said_in_the_plan(self, rng):
        x = rng.standard_normal((2000, 1500))
        made = mercer.plan(PCA(5, time=1e-6), x)
        assert "may miss tol" in str(made)


class TestWhatIsPlanned:
    @pytest.mark.parametrize(
        ("model", "named"),
        [
            (LandmarkFeatures(3), "LandmarkFeatures"), (RandomFeatures(3), "RandomFeatures"),
            (dropin.Nystroem(), "Nystroem"), (sklearn.decomposition.PCA(), "sklearn"),
            (PCA, "the class mercer"), (None, "NoneType"),
        ],
        ids=["landmarks", "random", "nystroem", "theirs", "class", "none"],
    )  # fmt: skip
    def test_what_has_no_plan_is_named(self, table, model, named):
        with pytest.raises(InputError, match="can be planned") as caught:
            mercer.plan(model, table)
        assert named in caught.value.got
        assert "mercer.PCA(3)" in caught.value.fix
        assert len(str(caught.value).splitlines()) == 3

    def test_the_tolerance_is_the_one_asked_for(self, table):
        assert PCA(2).fit(table).certificate_.tol == 1e-6
        assert PCA(2).fit(table.astype(np.float32)).certificate_.tol == 1e-5
        assert PCA(2, tol=1e-3).fit(table).certificate_.tol == 1e-3


def test_without_a_model_there_is_none():
    rows = np.eye(5)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        PCA(2).transform(rows)
    with pytest.raises(NotFittedError, match="the rows seen so far"):
        PCA(2).partial_fit(rows[:1]).transform(rows)
    assert PCA(2).partial_fit(rows[:2]).transform(rows).shape == (5, 2)
