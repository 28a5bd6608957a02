import pytest
from benchmarks import verdict


def record(seconds, *, correct=True, solver=None, **more):
    return {"median": seconds, "correct": correct, "facts": {"solver": solver, **more}}


def make(group="dense", dtype="float64", **rivals):
    cell = {
        "case": "a-case",
        "group": group,
        "dtype": dtype,
        "rows": 1000,
        "columns": 100,
        "floors": {"data_bytes": 800_000},
        "rivals": {name.replace("_", "-", 1): value for name, value in rivals.items()},
    }
    cell["verdict"] = verdict.judge(cell)
    return cell


def test_a_wrong_solver_is_no_rival():
    cell = make(
        mercer=record(1.0, solver="gram"),
        sklearn_auto=record(0.1, correct=False, solver="randomized"),
        sklearn_full=record(4.0, solver="full"),
    )
    judged = cell["verdict"]
    assert judged["rival"] == "sklearn-full"
    assert judged["kind"] == "other"
    assert judged["speedup"] == 4.0
    assert judged["holds"]


@pytest.mark.parametrize(("seconds", "holds"), [(1.0, True), (1.25, True), (1.26, False)])
def test_beside_covariance_eigh_a_quarter_more_is_allowed(seconds, holds):
    judged = make(
        mercer=record(seconds, solver="gram"),
        sklearn_auto=record(1.0, solver="covariance_eigh"),
        sklearn_covariance_eigh=record(1.1, solver="covariance_eigh"),
    )["verdict"]
    assert judged["kind"] == "gram"
    assert judged["holds"] is holds


@pytest.mark.parametrize(("seconds", "holds"), [(1.0, True), (1.01, False)])
def test_beside_the_others_slower_is_a_miss(seconds, holds):
    judged = make(
        mercer=record(seconds, solver="krylov"), sklearn_arpack=record(1.0, solver="arpack")
    )["verdict"]
    assert judged["holds"] is holds


def test_a_wrong_answer_of_ours_never_holds():
    judged = make(
        mercer=record(0.1, correct=False, solver="gram"),
        sklearn_arpack=record(1.0, solver="arpack"),
    )["verdict"]
    assert judged["holds"] is False
    nobody = make(
        mercer=record(0.1, correct=False, solver="gram"),
        sklearn_auto=record(0.1, correct=False, solver="covariance_eigh"),
    )["verdict"]
    assert nobody["kind"] == "unrivalled"
    assert nobody["holds"] is False


def test_where_nobody_else_is_correct_being_correct_holds():
    judged = make(
        mercer=record(9.0, solver="gram"),
        sklearn_auto=record(0.1, correct=False, solver="covariance_eigh"),
    )["verdict"]
    assert judged["kind"] == "unrivalled"
    assert judged["holds"] is True


def test_without_any_rival_there_is_no_verdict():
    assert make(mercer=record(1.0, solver="gram"))["verdict"]["holds"] is None


def test_a_tuned_setting_sets_no_target():
    judged = make(
        mercer=record(1.0, solver="gram"),
        sklearn_tuned=record(0.5, solver="randomized"),
        sklearn_arpack=record(3.0, solver="arpack"),
    )["verdict"]
    assert judged["rival"] == "sklearn-arpack"


@pytest.mark.parametrize(
    ("dtype", "speedup", "holds"),
    [("float64", 3.0, True), ("float64", 2.9, False), ("float32", 3.9, False)],
)
def test_sparse_is_measured_against_the_default_right_or_wrong(dtype, speedup, holds):
    judged = make(
        "sparse",
        dtype,
        mercer=record(1.0, solver="gram"),
        sklearn_auto=record(speedup, correct=False, solver="arpack"),
        sklearn_covariance_eigh=record(0.5, solver="covariance_eigh"),
    )["verdict"]
    assert judged["rival"] == "sklearn-auto"
    assert judged["holds"] is holds


def test_real_data_have_no_target():
    assert make("real", mercer=record(1.0))["verdict"]["holds"] is None


def test_memory_limits():
    cell = make(mercer=record(1.0, solver="gram"))
    assert verdict.memory_limit(cell, "gram", None) == 0.2 * 800_000 + 24 * 100**2
    assert verdict.memory_limit(cell, "krylov", 60) == 0.2 * 800_000 + 32 * 100 * 60
    assert verdict.memory_limit(cell, "krylov", None) is None


def test_memory_is_judged():
    ours = record(1.0, solver="krylov", basis=10)
    kept = make(mercer={**ours, "peak_bytes": 192_000})["verdict"]
    broken = make(mercer={**ours, "peak_bytes": 192_001})["verdict"]
    assert kept["memory_holds"] is True
    assert broken["memory_holds"] is False


def test_absent():
    assert make(mercer={"skipped": "not installed"})["verdict"]["kind"] == "absent"


def test_the_summary_counts():
    gram = make(
        mercer=record(1.2, solver="gram"), sklearn_auto=record(1.0, solver="covariance_eigh")
    )
    twice = make(mercer=record(1.0, solver="gram"), sklearn_arpack=record(2.0, solver="arpack"))
    level = make(mercer=record(1.0, solver="gram"), sklearn_arpack=record(1.5, solver="arpack"))
    summary = verdict.summarise([gram, level] + [twice] * 8)
    assert summary["dense_holds"]
    assert summary["gram_holds"] == summary["gram_cells"] == 1
    assert summary["gram_worst_ratio"] == 1.2
    assert (summary["other_cells"], summary["other_twice_as_fast"]) == (9, 8)
    assert not verdict.summarise([gram, level] + [twice] * 7)["dense_holds"]
    slow = make(mercer=record(3.0, solver="gram"), sklearn_arpack=record(2.0, solver="arpack"))
    summary = verdict.summarise([slow] + [twice] * 8)
    assert summary["other_slower"] == 1
    assert not summary["dense_holds"]
    assert summary["sparse_holds"] is None
