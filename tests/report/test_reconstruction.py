"""What is lost: shares by definition, pictures and curves with the right pixels."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_digits

import mercer
from mercer.plots._marks import Line
from mercer.report.facts._linear_summary import seen_from
from mercer.report.panels._rows_panels import reconstruction_section

RNG = np.random.default_rng(15)
DIGITS = load_digits().data[:300]


def section_of(model, rows, **options):
    return reconstruction_section(seen_from(model.fit(rows), rows, **options))


@pytest.mark.parametrize("change", [0.0, 1e8])
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_the_curve_is_what_the_components_leave(change, scale):
    X = (RNG.normal(size=(60, 5)) * [5, 4, 3, 2, 1] + change) * scale
    section = section_of(mercer.PCA(2), X)
    values = np.linalg.svd((X - X.mean(axis=0)) / scale, compute_uv=False) ** 2
    left = 100 * (1 - np.append(0, np.cumsum(values)) / values.sum())
    kept, line = [m for m in section.parts[0].panel.marks if type(m) is Line]
    assert kept.dashed
    assert kept.x == (2.0, 2.0)
    assert line.x == tuple(range(6))
    assert np.allclose(line.y, np.maximum(left, 0), atol=1e-5)
    assert f"{left[2]:.1f} %" in section.words[0]


def test_the_worst_rebuilt_column_is_named_with_its_share():
    X = RNG.normal(size=(80, 1)) @ np.array([[3.0, 3.0, 3.0, 0.0]])
    X = X + RNG.normal(size=X.shape) * [0.1, 0.1, 0.1, 1.0]
    model = mercer.PCA(1)
    words = section_of(model, X).words[0]
    kept = model.inverse_transform(model.transform(X))
    share = 1 - np.sum((X - kept) ** 2, axis=0) / np.sum((X - X.mean(axis=0)) ** 2, axis=0)
    name, rest = words.split("Worst rebuilt: ")[1].split(" (", 1)
    assert name == f"column {np.argmin(share)}"
    assert float(rest.split(" %")[0]) == pytest.approx(100 * share.min(), rel=0.05, abs=0.06)


def test_columns_that_are_rebuilt_whole_or_are_no_picture():
    X = np.c_[np.full(40, 3.0), RNG.normal(size=(40, 3))]
    words = section_of(mercer.PCA(1), X).words[0]
    assert "column 0" not in words
    words = section_of(mercer.PCA(), RNG.normal(size=(20, 3))).words[0]
    assert words.startswith("With 3 components")
    assert "-" not in words.split("%")[0]
    section = section_of(mercer.PCA(2), DIGITS, row_names=[""] * 300)
    assert section.parts[2].title == "Row 151, rebuilt"
    varied = DIGITS + RNG.normal(size=DIGITS.shape)
    assert len(section_of(mercer.PCA(2), varied).parts) == 4
    section = section_of(mercer.PCA(2, standardize=True), varied)
    assert not [part for part in section.parts if type(part).__name__ in ("Images", "Steps")]


def test_digits_are_pictures_with_their_pixels():
    model = mercer.PCA(10)
    section = section_of(model, DIGITS)
    axes, rebuilt, along = (p for p in section.parts if type(p).__name__ in ("Images", "Steps"))
    assert (axes.width, axes.height) == (8, 8)
    for picture, weights in zip(axes.pixels, model.components_, strict=False):
        signed = 127.5 + 127.5 * weights / np.abs(weights).max()
        assert np.all(np.abs(picture - signed) < 1)
    # The row in the middle, as it is and as ten components give it back.
    low, high = np.percentile(DIGITS, [0.5, 99.5])

    def grey(rows):
        return np.clip(255 * (rows - low) / (high - low), 0, 255)

    assert np.all(np.abs(rebuilt.pixels[0] - grey(DIGITS[150])) < 1.01)
    at = rebuilt.captions.index("10 components")
    back = model.inverse_transform(model.transform(DIGITS[150:151]))[0]
    assert np.all(np.abs(rebuilt.pixels[at] - grey(back)) < 1.01)
    assert rebuilt.title == "Row 151, rebuilt"
    deviation = math.sqrt(model.explained_variance_[0])
    for step, picture in zip(np.linspace(-3, 3, 13), along.pixels, strict=True):
        moved = model.mean_ + step * deviation * model.components_[0]
        assert np.all(np.abs(picture - grey(moved)) < 1.01)


def test_curves_are_drawn_as_curves():
    at = np.linspace(0, 1, 50)
    X = RNG.normal(size=(40, 1)) * np.sin(6 * at) + RNG.normal(size=(40, 1)) * at**2 + at
    model = mercer.PCA(2)
    section = section_of(model, X)
    assert [type(part).__name__ for part in section.parts] == 3 * ["Picture"]
    first = section.parts[1].panel.marks[0]
    assert np.allclose(first.y, model.components_[0])
    low, middle, high = (mark.y for mark in section.parts[2].panel.marks)
    assert np.allclose(middle, X.mean(axis=0))
    assert np.allclose(np.add(low, high) / 2, X.mean(axis=0))


def test_pixels_that_were_left_out_keep_their_place():
    varies = np.flatnonzero(DIGITS.std(axis=0) > 0.5)
    rows = DIGITS[:, varies]
    seen = seen_from(mercer.PCA(6).fit(rows), rows)
    assert len(varies) < 64
    assert not any(
        type(part).__name__ == "Images" for part in reconstruction_section(seen).parts
    )
    parts = reconstruction_section(seen, (8, varies.tolist())).parts
    images = next(part for part in parts if type(part).__name__ == "Images")
    assert (images.width, images.height) == (8, 8)
    blank = np.setdiff1d(np.arange(64), varies)
    assert np.all(images.pixels[:, blank] == 127)
    assert np.ptp(images.pixels[:, varies]) > 100
