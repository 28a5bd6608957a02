"""`mercer fit` as it is typed: what it says, what it writes, and how it ends."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse
from click.testing import CliRunner
from tests.cli.typed import command, ok

import mercer
from mercer.analysis import adapted, assumptions, held_whole, scales_of
from mercer.cli._options import asked_for
from mercer.cli._usage import UsageError
from mercer.cli._voice import Voice
from mercer.cli.app import commands
from mercer.cli.fitting._fit_stages import fitted, ready, stages_of
from mercer.cli.fitting._new_estimator import built, components_from
from mercer.errors import BudgetError, InputError
from mercer.methods import COMMANDS
from mercer.sources import ArrayBlocks, DenseSource, scan
from mercer.tables import Asked, Recipe, look, prepared

PENGUINS = Path(__file__).parents[1] / "data" / "penguins.csv"


run = command("fit")


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 2)) @ rng.standard_normal((2, 6)) * 4
    X += rng.standard_normal((80, 6))
    X[17, 3] += 40
    frame = pl.DataFrame({"name": [f"p{i:02d}" for i in range(80)]})
    frame = frame.with_columns(
        team=pl.Series(["=red", "blue"] * 40),
        age=pl.Series(X[:, 0] * 2 + rng.standard_normal(80)),
        **{f"v{i}": X[:, i] for i in range(6)},
    )
    frame.write_csv(tmp_path / "t.csv")
    return tmp_path / "t.csv"


def numbers(table):
    return pl.read_csv(table).select(pl.col("^v.$")).to_numpy()


def test_one_command_and_no_option_says_what_it_assumed():
    done = ok(run(PENGUINS))
    assert "2 of 344 rows hold nothing in the columns analysed" in done.stderr
    assert "standardised" in done.stderr
    assert "plan: 342 x 4" in done.stderr
    assert "certified ±" in done.stdout
    assert "beyond noise" in done.stdout
    assert "PC1 weighs most: flipper_length_mm" in done.stdout
    assert "1 outlying row, farther out than 342 normal rows reach" in done.stdout


def test_the_numbers_are_those_of_the_library(table):
    said = json.loads(run(table, "--columns", "v*", "-k", 3, "--json").stdout)
    X = numbers(table)
    values, axes = np.linalg.eigh(np.cov(X.T))
    assert np.allclose(said["variance"], values[::-1][:3], rtol=1e-10)
    assert np.allclose(said["ratio"], values[::-1][:3] / values.sum(), rtol=1e-10)
    assert np.all(np.array(said["lower"]) <= said["variance"])
    assert np.all(np.array(said["upper"]) >= said["variance"])
    first = np.array([said["loadings"]["PC1"][f"v{i}"] for i in range(6)])
    assert np.allclose(np.abs(first), np.abs(axes[:, -1]) * np.sqrt(values[-1]), rtol=1e-8)
    assert said["roles"]["active"] == [f"v{i}" for i in range(6)]
    assert {"look", "fit", "rows", "write"} == set(said["seconds"])
    assert said["outliers"]["rows"][0] | {"t2": 0, "q": 0} == {
        "row": 18,
        "id": "p17",
        "t2": 0,
        "q": 0,
        "by": said["outliers"]["rows"][0]["by"],
    }
    assert said["plan"]["bytes"] > 0
    assert said["outputs"] == {"model": None, "scores": None, "columns": None}


def test_coordinates_have_names_and_colours_first(table, tmp_path):
    words = ("--color", "team", "--sup", "age", "-k", 2, "--columns", "v*")
    done = ok(run(table, *words, "-o", tmp_path / "m.mercer", "--scores", tmp_path / "z.csv"))
    assert done.stdout.splitlines()[-2:] == [
        str(tmp_path / "m.mercer"),
        str(tmp_path / "z.csv"),
    ]
    read = pl.read_csv(tmp_path / "z.csv")
    assert read.columns == ["name", "team", "PC1", "PC2"]
    assert read["team"][:2].to_list() == ["'=red", "blue"]
    expected = mercer.PCA(2).fit_transform(numbers(table))
    assert np.allclose(read.select("PC1", "PC2").to_numpy(), expected, atol=1e-9)
    line = next(line for line in done.stdout.splitlines() if line.startswith("  age"))
    age = pl.read_csv(table)["age"].to_numpy()
    assert float(line.split()[1]) == pytest.approx(
        np.corrcoef(age, expected[:, 0])[0, 1], abs=1e-3
    )


def test_a_model_keeps_how_rows_are_made_and_no_folder(table, tmp_path):
    run(table, "-k", 2, "--columns", "v*", "-o", tmp_path / "m.mercer")
    notes = mercer.load(tmp_path / "m.mercer").notes_
    assert notes["data"] == {"file": "t.csv", "rows": 80, "columns": 6}
    assert notes["recipe"]["id"] == "name"
    assert notes["recipe"]["columns"] == [f"v{i}" for i in range(6)]
    assert set(notes["limits"]) == {"0.95"}  # 80 rows do not tell 99 %
    assert str(tmp_path) not in json.dumps(notes)


def test_no_component_beyond_noise_is_an_answer(tmp_path):
    X = np.random.default_rng(0).standard_normal((200, 8))
    np.save(tmp_path / "noise.npy", X)
    done = ok(
        run(tmp_path / "noise.npy", "--scores", tmp_path / "z.csv", "-o", tmp_path / "m.mercer")
    )
    assert "No component beyond noise" in done.stdout
    read = pl.read_csv(tmp_path / "z.csv")
    assert read.columns == ["row"]
    assert read["row"].to_list() == list(range(1, 201))
    assert run(tmp_path / "noise.npy", "--scores", tmp_path / "z.npy").exit_code == 0
    assert np.load(tmp_path / "z.npy").shape == (200, 0)
    said = json.loads(run(tmp_path / "noise.npy", "--json").stdout)
    assert (said["components"], said["variance"], said["outliers"]) == (0, [], None)


@pytest.mark.parametrize("method", ["kernel-pca", "robust-pca"])
def test_other_methods(table, tmp_path, method):
    words = (table, "--method", method, "--columns", "v*", "-k", 2)
    done = ok(run(*words, "--scores", tmp_path / "z.parquet"))
    assert pl.read_parquet(tmp_path / "z.parquet").columns[-2:] == ["PC1", "PC2"]
    said = json.loads(run(*words, "--json").stdout)
    assert np.all(np.array(said["lower"]) <= np.array(said["variance"]) * (1 + 1e-12))
    assert np.all(np.array(said["upper"]) >= np.array(said["variance"]) * (1 - 1e-12))
    if method == "robust-pca":
        assert "p17" in done.stdout


def test_stdin_and_stdout_are_taken(table):
    done = run("-", "-k", 2, "--columns", "v*", "--json", input=table.read_bytes())
    assert json.loads(done.stdout)["data"] == {"path": "-", "rows": 80, "columns": 6}
    done = run(table, "--scores", "-", "-k", 2, "--columns", "v*")
    assert done.stdout.splitlines()[0] == "name,team,PC1,PC2"
    assert len(done.stdout.splitlines()) == 81
    assert "certified ±" in done.stderr
    again = run(table, "--scores", "-", "--json")
    assert again.exit_code == 2


@pytest.mark.parametrize("option", ["-o", "--scores"])
def test_outputs_are_checked_before_any_work(table, tmp_path, option, monkeypatch):
    def work(*_, **__):
        raise AssertionError("work has begun")

    monkeypatch.setattr("mercer.cli.fitting._fit_stages.look", work)
    path = tmp_path / ("m.mercer" if option == "-o" else "z.csv")
    path.write_bytes(b"")
    done = run(table, option, path)
    assert done.exit_code == 3
    assert "--force" in done.stderr
    assert path.read_bytes() == b""


def test_a_missed_tolerance_warns_and_is_an_error_only_where_asked(tmp_path):
    X = np.random.default_rng(0).standard_normal((400, 300)).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    words = (tmp_path / "x.npy", "-k", 3, "--tol", "1e-17")
    done = ok(run(*words))
    assert "warning: " in done.stderr
    assert run(*words, "--strict").exit_code == 1


def test_checkpoints_are_kept_by_methods_that_have_them(table, tmp_path, rows_of_three):
    words = (table, "--columns", "v*", "-k", 2, "--checkpoint", tmp_path / "c.mercer")
    assert run(*words).exit_code == 0
    assert (tmp_path / "c.mercer").stat().st_size > 0
    refused = run(*words, "--method", "kernel-pca")
    assert refused.exit_code == 3
    assert "no checkpoint" in refused.stderr
    have = ready(
        Voice(quiet=True), rows_of_three, Asked(), "kernel-pca", lambda _: mercer.KernelPCA(2)
    )
    with pytest.raises(InputError, match="keeps no checkpoint"):
        fitted(Voice(quiet=True), have, str(tmp_path / "c"))


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_in_a_long_fit_leaves_nothing_half_written(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((60_000, 40)))
    words = ["fit", tmp_path / "x.npy", "--method", "robust-pca", "-k", "30"]
    words += ["-o", tmp_path / "m.mercer", "--scores", tmp_path / "z.csv"]
    running = subprocess.Popen(
        [sys.executable, "-m", "mercer", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in running.stderr:  # the plan is said, the fit begins
        if line.startswith("  -> "):
            break
    time.sleep(0.3)
    os.kill(running.pid, signal.SIGINT)
    began = time.monotonic()
    _, rest = running.communicate(timeout=60)
    assert running.returncode == 130, rest
    assert time.monotonic() - began < 20  # 2 s where the machine has nothing else to do
    assert "Traceback" not in rest
    assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]


@pytest.mark.parametrize(
    ("k", "words"),
    [
        ("3", "3 components, as asked."),
        ("0.9", "enough for the 90 %"),
        ("all", "6 components: all"),
    ],
)
def test_why_so_many(table, k, words):
    assert words in run(table, "--columns", "v*", "-k", k).stdout


def test_rows_that_count_differently_have_no_limits_of_another_fit(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 4)) * [9, 3, 1, 1]
    for name, w in (("alike", np.full(60, 2)), ("differ", np.arange(60) % 3)):
        lines = [",".join(map(str, [*row, c])) for row, c in zip(X, w, strict=True)]
        path = tmp_path / f"{name}.csv"
        path.write_text("a,b,c,d,w\n" + "\n".join(lines) + "\n", encoding="utf-8")
        words = ["fit", str(path), "--weights", "w", "-k", "2", "--json"]
        done = ok(CliRunner().invoke(commands, words))
        found = json.loads(done.stdout)["outliers"]
        assert (found is None) == (name == "differ")


@pytest.fixture
def rows_of_three(tmp_path):
    X = np.random.default_rng(0).standard_normal((70, 3)) * [5, 2, 1]
    pl.DataFrame({c: X[:, i] for i, c in enumerate("abc")}).write_parquet(
        tmp_path / "t.parquet"
    )
    return str(tmp_path / "t.parquet")


def test_assumptions_are_said_before_the_work(rows_of_three, capsys, monkeypatch):
    have = ready(Voice(), rows_of_three, Asked(), "pca", lambda m: built(m, components="2"))
    said = capsys.readouterr().err
    assert all(line in said for line in have.said)
    assert said.index(have.said[-1]) < said.index("plan: 70 x 3")
    assert have.said == assumptions(have.seen, have.made)
    assert not hasattr(have.model, "components_")
    done = fitted(Voice(quiet=True), have)
    assert done.model.components_.shape == (2, 3)
    assert done.names == ("a", "b", "c")
    assert set(done.seconds) == {"look", "fit"}
    monkeypatch.setattr("mercer.tables._table_reading.HELD", 10)
    have = ready(Voice(), rows_of_three, Asked(), "kernel-pca", lambda _: mercer.KernelPCA(2))
    assert isinstance(have.made.rows, pl.DataFrame)
    assert have.plan.chosen.name == "eigen" or have.plan.chosen.bytes > 0
    monkeypatch.setattr("mercer.analysis._ready_rows._HELD", 10)
    have = ready(Voice(), rows_of_three, Asked(), "kernel-pca", lambda _: mercer.KernelPCA(2))
    assert have.plan is None
    assert "read once" in capsys.readouterr().err


def test_a_file_is_walked_once_more_for_each_stage(rows_of_three, monkeypatch):
    monkeypatch.setattr("mercer.tables._table_reading.HELD", 10)
    made = prepared(look(rows_of_three, Asked()))
    found = mercer.plan(mercer.PCA(2), made.rows)
    few, more = (stages_of(found, made, writes=writes) for writes in (False, True))
    assert few["rows"] == found.problem.read_seconds > 0
    assert more["write"] > few["rows"]
    assert stages_of(None, made, writes=True) == {}


@pytest.mark.parametrize(
    ("text", "value"),
    [("10", 10), ("+3", 3), ("0.9", 0.9), (".5", 0.5), ("mle", "mle"), ("auto", "auto"),
     ("all", None)],
)  # fmt: skip
def test_components_as_typed(text, value):
    got = components_from(text)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    "text", ["ten", "0", "-3", "1.5", "1.0", "nan", "inf", "1e9", "", "0x3", "²"]
)
def test_nonsense_for_components_is_refused(text):
    with pytest.raises(UsageError, match="not understood") as raised:
        components_from(text)
    assert raised.value.got == f"-k {shlex.quote(text)}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_method_is_built_from_the_defaults_of_the_command_line(name, recwarn):
    model = built(name, components="auto", kernel=None, tol=None, memory=None, seed=0)
    assert type(model) is COMMANDS[name].load()
    # Maps have two axes and groups as many as tell them apart: nobody need be told.
    quiet = not COMMANDS[name].has_variances or isinstance(model.n_components, str)
    assert quiet == (not recwarn.list)


@pytest.mark.parametrize(
    ("method", "given", "what", "got"),
    [
        ("pca", {"settings": ["whitn=True"]}, "no parameter 'whitn'", "--set whitn=True"),
        ("pca", {"kernel": "rbf"}, "no parameter 'kernel'", "--kernel rbf"),
        ("pca", {"settings": ["whiten"]}, "an equals sign", "--set whiten"),
        ("pca", {"settings": ["2=3"]}, "an equals sign", "--set 2=3"),
        (
            "pca",
            {"settings": ["whiten=no"]},
            "whiten must be True or False or one of zca",
            "--set whiten=no",
        ),
        ("pca", {"tol": -1.0}, "--tol must be a number above 0", "--tol -1.0"),
        ("pca", {"tol": float("nan")}, "--tol must be a number above 0", "--tol nan"),
        ("pca", {"time": 0.0}, "--time must be a number above 0", "--time 0.0"),
        ("pca", {"memory": "much"}, "not a size", "--memory much"),
        ("pca", {"memory": "-4GB"}, "not a size", "--memory -4GB"),
        ("pca", {"seed": -1}, "--seed must be", "--seed -1"),
        ("pca", {"settings": ["device=cuda"]}, "only the CPU", "device='cuda'"),
        ("kernel-pca", {"kernel": "rfb"}, "no kernel 'rfb'", "--kernel rfb"),
        ("kernel-pca", {"kernel": "rbf("}, "could not be read", "rbf("),
        ("kernel-pca", {"components": "mle"}, "-k must be", "-k mle"),
        ("robust-pca", {"settings": ["method=best"]}, "method must be", "method=best"),
    ],
)
def test_what_a_method_does_not_take_is_wrong_usage(method, given, what, got):
    with pytest.raises(UsageError) as raised:
        built(method, **given)
    assert what in raised.value.what
    assert got in raised.value.got


def bare(standardize=False, missing="raise"):
    recipe = types.SimpleNamespace(table="numbers")
    return types.SimpleNamespace(
        groups=None, standardize=standardize, missing=missing, recipe=recipe
    )


@pytest.mark.parametrize(("method", "way"), [("robust-pca", "em"), ("kernel-pca", "ppca")])
def test_a_method_that_cannot_fill_says_so(method, way):
    with pytest.raises(InputError, match="--missing rows"):
        adapted(method, COMMANDS[method].load()(), bare(missing=way))


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


def test_groups_and_scales_belong_to_some_methods():
    with pytest.raises(UsageError, match="needs groups"):
        asked_for("mfa", Asked())
    groups = (("g", ("a",)),)
    assert asked_for("mfa", Asked(groups=groups)).groups == groups
    told = built("mfa", settings=["groups=[('g', ['a'])]"])
    assert asked_for("mfa", Asked(), told).groups == ()
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
    X = np.ones((4, 3))
    made = held_whole(rows_of(ArrayBlocks(DenseSource(X))), mercer.FactorAnalysis())
    assert made.rows.shape == (4, 3)


def test_sparse_rows_stay_sparse(tmp_path):
    table = scipy.sparse.random(30, 3, 0.5, format="csr", random_state=0)
    scipy.sparse.save_npz(tmp_path / "t.npz", table)
    source = scan(tmp_path / "t.npz")
    whole = held_whole(rows_of(source), built("ca"))
    assert scipy.sparse.issparse(whole.rows)
    assert np.array_equal(whole.rows.toarray(), table.toarray())
    with pytest.raises(BudgetError, match="stored cells"):
        held_whole(rows_of(source), built("ca", memory="100B"))
