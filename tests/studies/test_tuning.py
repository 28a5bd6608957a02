import dataclasses

import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from mercer.kernels import RBF, Linear
from mercer.studies import Candidate, Tuning
from mercer.studies.tuning._tuning_result import brief, left_out


@pytest.fixture
def tuning():
    curve = (
        Candidate(Linear(), 2.0, 0.5, 0.01),
        Candidate(RBF(1.23456789), 3.0, 0.75, 0.02),
        Candidate(RBF(0.01), 90.0, verdict="effective rank 90 is above a quarter of 100 rows"),
    )
    return Tuning(RBF(1.23456789), "reconstruction", "Because.", curve, 3, 100, True, 7)


def test_the_estimator_is_unfitted_and_has_what_was_chosen(tuning):
    model = tuning.estimator()
    assert model.kernel == RBF(1.23456789)
    assert (model.n_components, model.standardize, model.random_state) == (3, True, 7)
    with pytest.raises(NotFittedError):
        model.transform([[1.0]])
    assert tuning.estimator() is not model


def test_the_table_in_words(tuning):
    lines = str(tuning).splitlines()
    assert lines[:2] == ["reconstruction: rbf(lengthscale=1.23456789)", "Because."]
    assert lines[3].split() == [
        "kernel",
        "R²",
        "±",
        "error",
        "eff.",
        "rank",
        "excess",
        "evidence",
        "verdict",
    ]
    starred = [line for line in lines if line.startswith("*")]
    assert [line.split()[:3] for line in starred] == [["*", "rbf(lengthscale=1.235)", "0.7500"]]
    cells = ["rbf(lengthscale=0.01)", "-", "-", "90.0", "-", "-"]
    assert lines[-1].split()[:6] == cells
    assert lines[-1].endswith("effective rank 90 is above a quarter of 100 rows")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_columns_make_a_frame(tuning, frame):
    found = frame(tuning.columns())
    assert list(found.columns) == [
        "kernel",
        "score",
        "error",
        "effective_rank",
        "excess",
        "evidence",
        "verdict",
    ]
    assert list(found["effective_rank"]) == [2.0, 3.0, 90.0]


def test_results_are_values(tuning):
    with pytest.raises(dataclasses.FrozenInstanceError):
        tuning.best = Linear()
    with pytest.raises(dataclasses.FrozenInstanceError):
        tuning.curve[0].score = 1.0


def test_numbers_are_brief_and_kernels_without_numbers_are_left():
    assert brief(0.5 * RBF(12345.678) + Linear()) == "0.5*rbf(lengthscale=12350.0) + linear"
    assert brief(RBF((1.0, 2.0))) == str(RBF((1.0, 2.0)))
    assert brief(RBF(1e-12 / 3)) == "rbf(lengthscale=3.333e-13)"


def test_kernels_left_out_are_counted(tuning):
    assert left_out(tuning.curve[:2]) == []
    assert left_out(tuning.curve) == [
        "1 of 3 kernels was not admitted, the first because: "
        "effective rank 90 is above a quarter of 100 rows."
    ]
    assert left_out(tuning.curve[2:] * 2)[0].startswith("2 of 2 kernels were")
