"""What every estimator keeps: parameters, state, plan, accuracy."""

import copy
import logging
import pickle
import re
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sklearn.decomposition
from sklearn.exceptions import NotFittedError

import mercer
from mercer import PCA, LandmarkFeatures, RandomFeatures, dropin
from mercer.arrays import anonymous_bytes, parse_bytes
from mercer.errors import AccuracyWarning, BudgetError, InputError, NotSupportedError
from mercer.estimators.walk._parameters import (
    ParameterError,
    check_fitted,
    check_parameters,
    learned,
    publish,
    seed_of,
)


def state(model):
    """Return everything a model knows, in a form that compares."""
    return pickle.dumps(dict(sorted(vars(model).items())))


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

    @pytest.mark.parametrize(
        "state", [0, 7, np.int64(3), None, np.random.RandomState(1), np.random.default_rng(2)]
    )
    def test_seeds_of_every_kind(self, table, state, forced):
        assert forced("krylov")  # the only path that draws
        x = np.tile(table, (1, 4)) * np.linspace(1, 2, 32)
        model = forced("krylov")(2, random_state=state).fit(x)
        truth = np.linalg.svd(x - x.mean(axis=0), compute_uv=False)[:2]
        np.testing.assert_allclose(model.singular_values_, truth, rtol=1e-6)

    def test_parameters_are_left_as_they_were(self, table):
        weight = np.ones(8)
        model = PCA(2, feature_weight=weight, memory="1GB", random_state=None)
        before = {k: id(v) for k, v in model.get_params().items()}
        model.fit(table)
        assert {k: id(v) for k, v in model.get_params().items()} == before


class TestState:
    def test_a_failed_fit_changes_nothing(self, table):
        model = PCA(2).fit(table)
        before = state(model)
        broken = table.copy()
        broken[5, 3] = np.nan
        for bad in (broken, table[:1], np.zeros((5, 3)), "text", table[:, :1]):
            with pytest.raises(InputError):
                model.fit(bad)
            assert state(model) == before

    def test_a_failed_first_fit_leaves_nothing(self, table):
        model = PCA(20)
        with pytest.raises(InputError):
            model.fit(table)
        assert not [name for name in vars(model) if name.endswith("_")]

    def test_an_interrupted_fit_changes_nothing(self, table, monkeypatch):
        model = PCA(2).fit(table)
        before = state(model)

        def interrupted(*_args, **_kwargs):
            raise KeyboardInterrupt

        for place in ("_solve", "_scale", "_walk", "_problem"):
            with monkeypatch.context() as patch:
                patch.setattr(PCA, place, interrupted)
                with pytest.raises(KeyboardInterrupt):
                    model.fit(table[:50])
            assert state(model) == before

    def test_a_warning_made_an_error_changes_nothing(self, table):
        model = PCA(2).fit(table)
        before = state(model)
        model.set_params(tol=1e-300)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(AccuracyWarning):
                model.fit(table[:50])
        model.set_params(tol=None)
        assert state(model) == before

    def test_a_new_fit_forgets_the_old_one(self, table):
        pandas = pytest.importorskip("pandas")
        model = PCA(2, standardize=True).fit(pandas.DataFrame(table, columns=list("abcdefgh")))
        assert hasattr(model, "feature_names_in_")
        model.set_params(standardize=False)
        model.fit(table[:, :5])
        assert not hasattr(model, "feature_names_in_")
        assert model.n_features_in_ == 5
        assert model.scale_ is None

    @pytest.mark.parametrize(
        "change", [{"whiten": True}, {"n_components": 5}, {"whiten": "zca"}]
    )
    def test_set_params_after_fit_changes_no_answer(self, table, change):
        model = PCA(2).fit(table)
        z, names = model.transform(table), model.get_feature_names_out()
        model.set_params(**change)
        np.testing.assert_array_equal(model.transform(table), z)
        assert model.get_feature_names_out().tolist() == names.tolist()
        np.testing.assert_allclose(
            model.inverse_transform(z), PCA(2).fit(table).inverse_transform(z)
        )

    def test_models_travel(self, table):
        model = PCA(2, whiten=True, standardize=True).fit(table)
        for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            np.testing.assert_array_equal(twin.transform(table), model.transform(table))
            assert str(twin.plan_) == str(model.plan_)
            assert str(twin.certificate_) == str(model.certificate_)

    def test_a_model_is_small(self, rng):
        x = rng.standard_normal((20_000, 30))
        assert len(pickle.dumps(PCA(3).fit(x))) < 50_000


def test_fits_side_by_side_do_not_disturb_each_other(rng):
    tables = [rng.standard_normal((3000, 40)) * np.linspace(1, 3, 40) for _ in range(4)]
    alone = [PCA(3).fit(x) for x in tables]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda x: PCA(3).fit(x), tables))
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_allclose(a.components_, b.components_, rtol=0, atol=1e-9)
        np.testing.assert_allclose(a.explained_variance_, b.explained_variance_, rtol=1e-11)


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

    @pytest.mark.parametrize("name", ["PCA", "KernelPCA", "IncrementalPCA", "TruncatedSVD"])
    def test_what_the_message_names_has_one(self, table, name):
        assert mercer.plan(getattr(dropin, name)(2), table).chosen.name


class TestAccuracy:
    def test_a_missed_tolerance_is_a_warning_with_the_number_reached(self, table):
        with pytest.warns(AccuracyWarning, match="not certified to 1e-17") as caught:
            model = PCA(3, tol=1e-17).fit(table)
        assert not model.certificate_.met
        assert f"{model.certificate_.reached:.1e}" in str(caught[0].message)
        assert len(str(caught[0].message).splitlines()) == 3
        assert caught[0].filename == __file__
        np.testing.assert_allclose(
            model.explained_variance_, PCA(3).fit(table).explained_variance_
        )

    def test_white_noise_does_not_pass_unflagged(self, forced, rng):
        x = rng.standard_normal((500, 300))
        truth = np.linalg.svd(x - x.mean(axis=0), compute_uv=False) ** 2 / 499
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = forced("krylov")(10, time=1e-3).fit(x)
        c = model.certificate_
        assert not c.met
        assert [w.category for w in caught] == [AccuracyWarning]
        assert np.all((c.lower <= truth[:10]) & (truth[:10] <= c.upper))

    def test_the_tolerance_is_the_one_asked_for(self, table):
        assert PCA(2).fit(table).certificate_.tol == 1e-6
        assert PCA(2).fit(table.astype(np.float32)).certificate_.tol == 1e-5
        assert PCA(2, tol=1e-3).fit(table).certificate_.tol == 1e-3


def test_good_parameters_pass_and_wrong_ones_are_named():
    check_parameters(PCA(3))
    with pytest.raises(ParameterError) as caught:
        check_parameters(PCA("many"))
    assert isinstance(caught.value, InputError)
    assert "n_components" in caught.value.what
    assert "'many'" in caught.value.got
    assert str(caught.value).count("\n") == 2


def test_without_a_model_there_is_none():
    check_fitted(PCA(2).fit(np.eye(5)))
    with pytest.raises(NotFittedError, match="not fitted yet"):
        check_fitted(PCA(2))
    with pytest.raises(NotFittedError, match="the rows seen so far"):
        check_fitted(PCA(2).partial_fit(np.eye(5)[:1]))
    check_fitted(PCA(2).partial_fit(np.eye(5)[:2]))


def test_seeds_are_whole_numbers():
    assert seed_of(7) == seed_of(np.int64(7)) == 7
    assert seed_of(np.random.default_rng(1)) == seed_of(np.random.default_rng(1))
    assert seed_of(np.random.RandomState(1)) == seed_of(np.random.RandomState(1))
    drawn = {seed_of(None) for _ in range(5)}
    assert len(drawn) > 1
    assert all(isinstance(seed, int) and 0 <= seed < 2**31 for seed in drawn)


def test_what_a_fit_has_learned_is_published_at_once():
    model = PCA(2).fit(np.eye(5))
    found = learned(model)
    assert set(vars(model)) == set(found) | set(model.get_params())
    assert not set(found) & set(model.get_params())
    other = PCA(3).fit(np.eye(6))
    other.left_over_, other._kept = 1, 2
    publish(other, found)
    assert other.n_components == 3  # parameters stay
    assert other.components_ is model.components_
    assert not hasattr(other, "left_over_")  # what an earlier fit left goes
    assert other._kept == 2
