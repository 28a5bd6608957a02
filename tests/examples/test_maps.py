"""What docs/maps.md says of the maps is so, on the rows of its tables."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import maps
import maps_drawn
import numpy as np
import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PICTURES = ("swiss_roll", "s_curve", "circles", "digits", "wine", "sweeps")


@pytest.fixture(scope="module")
def roll():
    return maps.swiss_roll()


@pytest.fixture(scope="module")
def page():
    return (DOCS / "maps.md").read_text(encoding="utf-8")


def of(rows, method):
    return maps.measured(rows, method)[0]


def test_the_sheet_is_known_exactly():
    rows = maps.swiss_roll(2000)
    near = np.argsort(rows.sheet[:, 0])
    t = np.hypot(*rows.seen[near].T)
    steps = np.diff(rows.sheet[near, 0])
    assert np.allclose(steps, np.hypot(t[:-1] * np.diff(t), np.diff(t)), atol=2e-3)


@pytest.mark.parametrize("method", ["Isomap", "Isomap, 100 landmarks"])
def test_paths_unroll(roll, method):
    found = of(roll, method)
    assert found["length"] > 0.99
    assert found["sheet"] > 0.98
    assert found["trust"] > 0.99
    assert not found["said"]


@pytest.mark.parametrize("method", ["ClassicalMDS", "KernelPCA, RBF"])
def test_straight_distances_do_not(roll, method):
    found = of(roll, method)
    assert found["length"] < 0.6
    # Far turns lie on each other: neighbours on the map are none, neighbours of rows stay.
    assert found["trust"] < 0.9 < 0.98 < found["continuity"]


@pytest.mark.parametrize("method", ["LLE, modified", "LLE, hessian", "LLE, ltsa"])
def test_tangents_lay_the_roll_flat(roll, method):
    assert of(roll, method)["sheet"] > 0.99


def test_eigenmaps_repeat_the_first_axis(roll):
    found = of(roll, "LaplacianEigenmaps")
    assert found["length"] > 0.98
    assert found["sheet"] < 0.05
    assert found["bent"] > 0.99


def test_standard_lle_has_lost_the_width():
    found = of(maps.s_curve(), "LLE, standard")
    assert found["length"] > 0.99
    assert found["sheet"] < 0.05
    assert found["bent"] > 0.9


@pytest.mark.parametrize("method", ["LaplacianEigenmaps", "Isomap", "LLE, ltsa", "Unfolding"])
def test_circles_are_two_pieces_and_named(method):
    found = of(maps.circles(200), method)
    assert found["said"] == ["refused: 2 pieces of 100, 100 points"]
    assert found["rows"] == 100


def test_who_tells_the_circles_apart():
    rings = maps.circles()
    assert of(rings, "DiffusionMaps")["ring"] > 0.99
    assert of(rings, "KernelPCA, RBF")["ring"] < 0.1
    assert of(rings, "ClassicalMDS")["ring"] < 0.1


def test_too_many_neighbours_show(roll):
    well, jumped = maps.by_neighbours(roll, (10, 25))
    for method in ("Isomap", "LLE, ltsa"):
        assert well[method] > 0.99
        assert jumped[method] < 0.3
    assert jumped["residual variance"] > 100 * well["residual variance"]
    assert jumped["negative share"] > 5 * well["negative share"]
    assert jumped["1 − λ₂"] > 10 * well["1 − λ₂"]


def test_a_short_scale_walks_along_the_roll_and_no_kernel_sees_it(roll):
    short, long = maps.by_lengthscale(roll, (1.5, 4.0))
    for found in (short, long):
        assert max(found["KernelPCA, 2 axes"], found["best of 10 axes"]) < 0.7
    assert short["DiffusionMaps"] > 0.98
    assert long["DiffusionMaps"] < 0.5
    assert long["1 − λ₂"] > 20 * short["1 − λ₂"]
    walk = maps.mercer.DiffusionMaps(2, neighbours=10).fit(roll.X)
    assert maps.correlation(walk.embedding_, roll.sheet[:, 0]) > 0.98


@pytest.mark.slow
def test_thin_rows_are_said_to_be_thin():
    (found,) = maps.by_rows((200,))
    assert max(found["Isomap"], found["LLE, ltsa"], found["Unfolding"]) < 0.5
    assert found["said"][0].startswith("the rows do not lie flat on 2 axes")
    assert found["residual variance"] > 0.1


def test_one_row_far_out_is_seen_by_its_share_of_an_axis():
    shares = {}
    for method in ("ClassicalMDS", "Isomap", "LLE, hessian", "LLE, ltsa", "DiffusionMaps"):
        _, Z, _ = maps.measured(maps.wine(), method)
        shares[method] = np.max((Z - Z.mean(axis=0)) ** 2 / len(Z) / Z.var(axis=0))
    assert max(shares["ClassicalMDS"], shares["Isomap"]) < 0.1
    assert min(shares["LLE, hessian"], shares["LLE, ltsa"], shares["DiffusionMaps"]) > 0.5


def test_digits_have_no_plane_and_isomap_says_so():
    rows = maps.digits()
    found = of(rows, "Isomap")
    assert found["own"].startswith("residual variance 0.2")
    assert found["same"] > of(rows, "ClassicalMDS")["same"] + 0.1


def test_the_page_has_the_tables_of_the_numbers(page):
    numbers = json.loads((DOCS / "pictures" / "maps.json").read_text(encoding="utf-8"))
    assert len(numbers["maps"]) == 5 * len(maps.METHODS)
    for table in maps_drawn.tables(numbers):
        assert table in page


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_small_and_on_the_page(page, name):
    picture = DOCS / "pictures" / f"{name}.svg"
    assert picture.stat().st_size < 150_000
    assert ET.parse(picture).getroot().tag.endswith("svg")
    assert f"](pictures/{name}.svg)" in page


def test_a_set_is_drawn_with_all_its_rows_or_every_third(roll):
    found, Z, kept = maps.measured(roll, "ClassicalMDS")
    svg = maps_drawn.sheet_of(roll, [(found, Z, kept)])
    tree = ET.fromstring(svg)
    drawn = sum(path.get("d").count("M") for path in tree.iter() if path.get("d"))
    assert drawn == 2 * len(range(0, len(Z), 3))
    assert "length 0.27" in svg
