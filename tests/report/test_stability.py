import numpy as np
import pytest

import mercer
from mercer.report.facts._linear_summary import seen_from
from mercer.report.panels import _axes_panels as room
from mercer.report.panels._axes_panels import normal_angles, stability_section

RNG = np.random.default_rng(2)


def seen(deviations, n=200):
    X = RNG.normal(size=(n, len(deviations))) * deviations
    return seen_from(mercer.PCA(2).fit(X), X)


def test_axes_of_equal_variance_are_named_as_a_plane():
    words = stability_section(seen([9, 3, 3, 1, 1])).words[0]
    assert "PC1" in words.split(".")[0]
    assert "the plane of PC2 and PC3" in words


def test_large_tables_get_the_normal_law(monkeypatch):
    monkeypatch.setattr(room, "_WORK", 0)
    section = stability_section(seen([9, 3, 1, 1], n=500))
    assert section.parts[0].caption == "Sampling errors"
    share, error = section.parts[0].rows[0][1:3]
    assert error == pytest.approx(share * np.sqrt(2 / 499))


def test_the_angle_is_that_of_simulated_samples():
    values, n = np.array([9.0, 4.0, 1.0]), 400
    found = []
    for _ in range(300):
        X = RNG.normal(size=(n, 3)) * np.sqrt(values)
        found.append(mercer.PCA(3).fit(X).components_)
    sines = 1 - np.mean([np.diagonal(V) ** 2 for V in found], axis=0)
    assert np.allclose(np.sin(np.radians(normal_angles(values, n))) ** 2, sines, rtol=0.2)


@pytest.mark.parametrize("values", [[1.0, 1.0], [1.0], [0.0, 0.0], [2.0, 0.0]])
def test_degenerate_spectra_do_no_harm(values):
    assert np.isfinite(normal_angles(np.array(values), 10)).all()
