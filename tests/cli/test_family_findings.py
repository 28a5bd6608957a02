"""What fits of the families say, by command lines on tables with known results."""

import json
import types
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from tests.cli.typed import command, ok

import mercer
from mercer.cli.fitting._family_findings import _chance, _facts, _independence

DATA = Path(__file__).parents[1] / "data"


run = command()


def said_by(*words):
    done = ok(run(*words, "--json"))
    return json.loads(done.stdout)


def test_counts_say_their_test_and_what_makes_the_axes():
    """592 students: χ² = 138.29 on 9 degrees of freedom, inertias 0.2088, 0.0222, 0.0026."""
    path = DATA / "hair_eye_592.csv"
    done = run("fit", path, "--method", "ca", "-k", 2)
    assert "χ² = 138.29 with 9 degrees of freedom, p = 2.3e-25; Cramér's V" in done.stdout
    assert "Axis 1 is made of columns Blond (72 %" in done.stdout
    assert "rows Blue (52 %" in done.stdout
    assert "T²" not in done.stdout
    said = said_by("fit", path, "--method", "ca", "-k", 3)
    assert np.allclose(said["eigenvalues"], [0.208773, 0.022227, 0.002598], atol=5e-7)
    assert np.isclose(said["independence"]["chi2"], 138.2898, atol=1e-4)
    assert said["total_inertia"] == pytest.approx(138.2898 / 592, abs=1e-6)
    assert set(said["columns"]["PC1"]) == {"Black", "Brown", "Red", "Blond"}
    assert "loadings" not in said
    assert said["roles"]["id"] == ["eye"]


def test_tables_of_counts_wide_long_and_independent(tmp_path):
    wide = said_by("fit", DATA / "hair_eye_592.csv", "--method", "ca", "-k", 3)
    words = ("--rows-by", "Eye", "--columns-by", "Hair", "--count", "Freq")
    long = said_by("fit", DATA / "HairEyeColor_long.csv", "--method", "ca", "-k", 3, *words)
    assert np.allclose(wide["eigenvalues"], long["eigenvalues"], rtol=1e-10)
    assert long["roles"]["count"] == ["Freq"]
    table = np.random.default_rng(0).poisson(5.0, (6, 4))
    lines = [f"r{i}," + ",".join(map(str, row)) for i, row in enumerate(table)]
    (tmp_path / "t.csv").write_text("\n".join(["r,a,b,c,d", *lines]) + "\n", encoding="utf-8")
    done = ok(run("fit", tmp_path / "t.csv", "--method", "ca", "--scores", tmp_path / "z.csv"))
    assert "warning" not in done.stderr
    assert "No component beyond noise" in done.stdout
    done = ok(run("ca", tmp_path / "t.csv", "-k", "auto", "-o", tmp_path / "t.html"))


def test_categories_and_maps_say_their_own():
    done = ok(run("fit", DATA / "poison.csv", "--method", "mca", "-k", 2, "--sup", "Age,Sex"))
    assert "Axis 1 goes most with (η²): Sick (0.9" in done.stdout
    assert "Sick=Sick_n (" in done.stdout
    assert "Supplementary columns" in done.stdout
    assert "Sex (η²)" in done.stdout
    words = ("--method", "isomap", "--drop", "Rank,Points", "--set", "neighbours=8")
    done = ok(run("fit", DATA / "decathlon.csv", *words))
    assert "41 rows, 10 columns, standardised" in done.stdout
    assert "Graph: 41 points, " in done.stdout
    assert "edges, in one piece; 8 to " in done.stdout
    said = said_by("fit", DATA / "decathlon.csv", *words)
    assert said["facts"]["points"] == 41
    assert said["components"] == 2


def test_groups_say_their_tests_and_how_many_rows_find_home():
    """Fisher's irises: Wilks' Λ 0.0234, and 147 of 150 flowers in their own group."""
    done = run("fit", DATA / "iris.csv", "--method", "lda", "--target", "Species")
    assert "3 groups in 'Species'" in done.stdout
    assert "Wilks' Λ of all axes: 0.02344, p = 1.4e-112." in done.stdout
    assert "98.0 % of these rows are given to their own group" in done.stdout
    said = said_by("fit", DATA / "iris.csv", "--method", "lda", "--target", "Species")
    assert said["groups"] == {"setosa": 50, "versicolor": 50, "virginica": 50}
    assert said["own_group"] == pytest.approx(147 / 150)
    assert said["classes"] == ["setosa", "versicolor", "virginica"]
    assert np.isclose(said["tests"]["wilks"][0], 0.02344, atol=5e-6)


def test_other_families_say_their_own():
    done = ok(run("fit", DATA / "decathlon.csv", "--method", "factor", "--drop", "Rank,Points"))
    assert "Log-likelihood -" in done.stdout
    assert "Axis 1 loads most on: " in done.stdout
    assert "degrees of freedom, p = " in done.stdout
    assert "-> gram" in done.stderr
    done = ok(run("fit", DATA / "varespec.csv", "--method", "topics", "--sup", "Cladstel"))
    assert "Axis 1 weighs most: " in done.stdout
    assert "Supplementary columns, correlations" in done.stdout
    done = ok(run("fit", DATA / "decathlon.csv", "--method", "mvu", "--drop", "Rank,Points"))
    assert "No map that keeps these distances has a variance above " in done.stdout
    words = ("--method", "lle", "--drop", "Rank,Points")
    done = ok(run("fit", DATA / "decathlon.csv", *words))
    assert "share" not in done.stdout
    assert said_by("fit", DATA / "decathlon.csv", *words)["ratio"] is None


def test_small_counts_and_graphs_in_pieces_are_told():
    test = types.SimpleNamespace(
        chi2=9.0, dof=4, p_value=0.0, cramer_v=0.5, expected_below_5=0.5
    )
    lines = _independence(types.SimpleNamespace(independence_=test))
    assert "p below 1e-300" in lines[0]
    assert lines[1] == "50 % of the expected counts are below 5: p is rough."
    facts = types.SimpleNamespace(whole=False)
    lines = _independence(types.SimpleNamespace(independence_=test, facts_=facts))
    assert "whole numbers" in lines[1]
    assert _independence(types.SimpleNamespace()) == []
    assert _chance(0.04) == "p = 0.04"
    counts = {"points": 9, "edges": 12, "piece_count": 2, "isolated_count": 1, "left_out": 3}
    counts |= {"fewest": 0, "most": 4, "typical": 2.5, "duplicates": 2}
    (line,) = _facts(types.SimpleNamespace(facts_=types.SimpleNamespace(**counts)))
    assert line == (
        "Graph: 9 points, 12 edges, in 2 pieces; 0 to 4 neighbours, 2.5 as a rule;"
        " 1 point without an edge; 2 rows there more than once;"
        " 3 rows outside the piece that is mapped."
    )
    assert _facts(types.SimpleNamespace(facts_=None)) == []
    assert _facts(types.SimpleNamespace(facts_=object())) == []


def test_numbers_and_categories_and_groups_of_columns():
    words = ("--missing", "rows", "-q")
    done = ok(run("fit", DATA / "penguins.csv", "--method", "famd", *words))
    assert "species=Gentoo (" in done.stdout
    groups = ("--group", "bill=bill*", "--group", "rest=flipper_length_mm,body_mass_g,sex")
    done = ok(run("fit", DATA / "penguins.csv", "--method", "mfa", *groups, *words))
    assert "5 columns in 2 groups" in done.stdout


def test_sparse_counts_are_named_as_their_file_names_them(tmp_path):
    table = scipy.sparse.random(60, 8, 0.4, format="csr", random_state=0)
    table.data = np.ceil(9 * table.data)
    scipy.sparse.save_npz(tmp_path / "t.npz", table)
    words = ("--method", "ca", "-k", 2, "-o", tmp_path / "m.mercer")
    said = said_by("fit", tmp_path / "t.npz", *words)
    assert set(said["columns"]["PC1"]) <= set(map(str, range(8)))
    ok(run("transform", tmp_path / "m.mercer", tmp_path / "t.npz", "-o", tmp_path / "z.npy"))
    rows = table.toarray()
    model = mercer.CorrespondenceAnalysis(2).fit(rows[rows.sum(axis=1) > 0])
    assert np.allclose(np.abs(np.load(tmp_path / "z.npy")), np.abs(model.row_coordinates_))
