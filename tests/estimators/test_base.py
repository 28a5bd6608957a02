"""What every estimator keeps: parameters, state, plan, accuracy."""

import dataclasses
import logging
import pickle
import re

import numpy as np
import pytest
import sklearn.decomposition
from tests.claims import refused, refuses

import mercer
from mercer import PCA, LandmarkFeatures, RandomFeatures, dropin
from mercer.arrays import Rates, anonymous_bytes, parse_bytes
from mercer.errors import BudgetError, InputError, NotSupportedError
from mercer.estimators.walk import _spectral_estimator as _planned
from mercer.planning import Problem, plan
from mercer.solvers import Exact


class TestParameters:
    def test_the_interface(self):
        names = (
            "device feature_weight forget memory missing n_components random_state sign"
            " standardize time tol whiten"
        )
        assert sorted(PCA().get_params()) == names.split()
        refuses(None, PCA, 3, True, kind=TypeError)

    def test_other_devices_are_not_built_yet(self, table):
        refuses("CPU", PCA(device="cuda").fit, table, kind=NotSupportedError)
        PCA(device="cpu").fit(table)

    def test_a_failed_first_fit_leaves_nothing(self, table):
        model = PCA(20)
        refuses(None, model.fit, table)
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

    def test_a_fallback_is_logged(self, caplog, rng):
        kind = type("Either", (PCA,), {"_allowed": lambda _self: ("gram", "svd")})
        x = rng.standard_normal((4000, 200)) * np.geomspace(1, 1e-5, 200)
        with caplog.at_level(logging.INFO, logger="mercer"):
            model = kind().fit(x)
        assert model.plan_.chosen.name == "gram"
        assert "next: svd" in caplog.text
        assert model.certificate_.met

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
        with refused(InputError, match="can be planned") as caught:
            mercer.plan(model, table)
        assert named in caught.value.got
        assert "mercer.PCA(3)" in caught.value.fix

    def test_the_tolerance_is_the_one_asked_for(self, table):
        assert PCA(2).fit(table).certificate_.tol == 1e-6
        assert PCA(2).fit(table.astype(np.float32)).certificate_.tol == 1e-5
        assert PCA(2, tol=1e-3).fit(table).certificate_.tol == 1e-3


GB = 10**9


SLOW = Rates(2, (6e8, 3e8), (4e8, 1.6e8), (2e7, 1e7), 8e7, 3e7, 6e7, 2e7)


def problem(rows=10**6, cols=2000, components=10, **more):
    given = {"itemsize": 8, "memory": 64 * GB, "threads": 2, **more}
    return Problem(rows=rows, cols=cols, components=components, **given)


@pytest.fixture
def asked(monkeypatch):
    """Return the list of thread counts that the self-test was asked for."""
    calls = []
    monkeypatch.setattr(_planned, "rates", lambda n: calls.append(n) or SLOW)
    return calls


@pytest.mark.parametrize(
    ("given", "measured"),
    [
        (problem(1000, 50), False), (problem(1000, 50, time=1e-6), False),
        (problem(1000, 50, time=1e6), False), (problem(10**6, 200, time=5.0), True),
        (problem(10**6, 200, time=4.9), False), (problem(10**6, 200), False), (problem(), True),
        (problem(time=1e6), True), (problem(time=1.0), True),
        (problem(memory=9 * 10**7), False),
    ],
)  # fmt: skip
def test_only_long_fits_are_worth_a_self_test(given, measured, asked):
    made = _planned.planned(given)
    assert asked == [2] * measured
    words = "seconds measured on this machine" if measured else "seconds from default rates"
    assert words in str(made).splitlines()[0]
    assert dataclasses.replace(made.problem, machine=None) == given


def test_a_plan_with_rates_is_not_measured_again(asked):
    made = _planned.planned(problem())
    assert _planned.planned(made.problem) == made == plan(made.problem)
    assert len(asked) == 1


def test_what_a_machine_does_badly_is_avoided(monkeypatch):
    given = problem(20_000, 20_000, 20)
    assert plan(given).chosen.name == "krylov"
    # Without thin products neither kind of iteration is left.
    lame = Rates(2, (6e12, 3e12), (4e7, 1.6e7), (2e9, 1e9), 8e9, 3e12, 6e9, 2e9)
    monkeypatch.setattr(_planned, "rates", lambda _n: lame)
    chosen = _planned.planned(given).chosen
    assert (chosen.name, type(chosen.solver)) == ("gram", Exact)


@pytest.mark.parametrize("method", [mercer.PCA, mercer.KernelPCA])
def test_small_fits_measure_nothing(method, monkeypatch):
    def refuse(_threads):
        raise AssertionError("a small fit measured the machine")

    monkeypatch.setattr(_planned, "rates", refuse)
    x = np.random.default_rng(0).standard_normal((300, 20))
    for time in (None, 0.5, 1e4):
        model = method(2, time=time).fit(x)
        assert "from default rates" in str(model.plan_)
        assert mercer.plan(method(2, time=time), x).problem.machine is None


@pytest.mark.parametrize("method", [mercer.PCA, mercer.KernelPCA])
def test_a_long_fit_says_so(method, monkeypatch, asked):
    monkeypatch.setattr(_planned, "_LONG", 0.0)
    x = np.random.default_rng(0).standard_normal((300, 20))
    model = method(2, memory="1GB").fit(x)
    assert "measured on this machine" in str(model.plan_)
    assert mercer.plan(method(2, memory="1GB"), x) == model.plan_
    assert model.certificate_.met
    assert len(asked) == 2
