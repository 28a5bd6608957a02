from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sklearn.decomposition
from sklearn.datasets import load_wine
from tests.claims import refuses

from mercer import PCA, KernelPCA, RobustPCA, plots
from mercer.diagnostics import outliers
from mercer.errors import DataWarning, InputError
from mercer.plots import Arrows, Band, Bars, Line, Points, Whiskers

WINE = load_wine()
X = WINE.data
FRAME = pd.DataFrame(X, columns=WINE.feature_names)


def first(panel, kind):
    return next(m for m in panel.marks if isinstance(m, kind))


def drawn_arrows(panel):
    arrows = first(panel, Arrows)
    words = [title.partition(":")[0] for title in arrows.titles]
    return dict(zip(words, zip(arrows.x, arrows.y, strict=True), strict=True))


def test_spectra_are_certified_or_have_no_intervals():
    model = PCA(3).fit(X)
    values, lower, upper, ratio = plots.spectrum_of(model)
    assert np.array_equal(values, model.explained_variance_)
    assert np.all((lower <= values) & (values <= upper))
    assert np.array_equal(ratio, model.explained_variance_ratio_)
    kernel = KernelPCA(3).fit(X)
    assert np.array_equal(plots.spectrum_of(kernel)[0], kernel.eigenvalues_)
    rival = sklearn.decomposition.PCA(3).fit(X)
    _, lower, upper, _ = plots.spectrum_of(rival)
    assert np.array_equal(lower, upper)
    assert "<svg" in plots.figure([plots.scree_of(rival), plots.loadings_of(rival)])


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("method", ["reweighted", "spherical"])
def test_robust_intervals_hold_the_robust_variances(method, standardize):
    model = RobustPCA(3, method=method, standardize=standardize).fit(X)
    values, lower, upper, _ = plots.spectrum_of(model)
    slack = 1e-12 * values
    assert np.all((lower <= values + slack) & (values <= upper + slack))
    assert np.all(upper - lower <= 1e-6 * values)


def test_scree_has_noise_and_the_number_chosen():
    whole, some = PCA().fit(X), PCA(2).fit(X)
    band, begin = first(plots.scree_of(whole), Band), first(plots.scree_of(some, X), Band)
    assert np.allclose(begin.upper, band.upper[:2])
    assert np.allclose(begin.lower, band.lower[:2])
    assert not [m for m in plots.scree_of(some).marks if isinstance(m, Band)]
    assert not [m for m in plots.scree_of(KernelPCA(2).fit(X)).marks if isinstance(m, Band)]
    assert first(plots.scree_of(PCA(2, standardize=True).fit(X)), Band).x == (1.0, 2.0)
    with pytest.warns(DataWarning, match="next to each other"):  # wines stand by cultivar
        model = PCA("auto", standardize=True).fit(X)
    assert plots.scree_of(model).axes.legend[0][0] == f"k = {model.choice_.k}"


def test_circles_hold_the_correlations_of_the_data():
    for model in (
        PCA(3, standardize=True),
        PCA(3),
        PCA(),
        PCA(3, feature_weight=np.arange(1.0, 14)),
        PCA(3, feature_weight=np.arange(1.0, 14), standardize=True),
        PCA(feature_weight=np.arange(1.0, 14)),
    ):
        Z = model.fit(FRAME).transform(FRAME)
        panel = plots.circle_of(model, FRAME, least=0.0)
        for name, tip in drawn_arrows(panel).items():
            wanted = [np.corrcoef(FRAME[name], Z[:, a])[0, 1] for a in (0, 1)]
            assert tip == pytest.approx(wanted, abs=1e-9), name
    whole = PCA().fit(X)
    one, two = (
        drawn_arrows(panel) for panel in (plots.circle_of(whole), plots.circle_of(whole, X))
    )
    assert one.keys() == two.keys()
    assert np.allclose(list(one.values()), list(two.values()))
    with pytest.raises(InputError, match="circle_of"):
        plots.circle_of(PCA(2).fit(X))
    with pytest.raises(InputError, match="as many columns"):
        plots.circle_of(PCA(2).fit(X), X[:, :3])


def test_constant_columns_and_whitened_coordinates():
    table = np.c_[X[:, :3], np.full(178, 7.0)]
    with pytest.warns(DataWarning, match="constant"):
        model = PCA(2, standardize=True).fit(table)
    assert "x3" not in drawn_arrows(plots.circle_of(model, least=0.0))
    assert np.isfinite(first(plots.scree_of(model), Band).upper).all()
    plain, white = PCA(3).fit(X), PCA(3, whiten=True).fit(X)
    one = plots.biplot_of(plain, plain.transform(X))
    two = plots.biplot_of(white, white.transform(X))
    assert np.allclose(first(one, Points).x, first(two, Points).x)
    zca = PCA(3, whiten="zca").fit(X)
    with pytest.raises(InputError, match="whiten=False"):
        plots.biplot_of(zca, zca.transform(X))


def test_loadings_have_names_intervals_and_other_axes():
    model = PCA(2, standardize=True).fit(FRAME)
    assert plots.loadings_of(model).axes.y_ticks[0][1] == "flavanoids"
    assert plots.loadings_of(model, [f"c{i}" for i in range(13)]).axes.y_ticks[0][1] == "c6"
    assert plots.loadings_of(PCA(2, standardize=True).fit(X)).axes.y_ticks[0][1] == "x6"
    model = PCA(3).fit(FRAME)
    V = model.components_
    panel = plots.loadings_of(model, lower=V - 0.1, upper=V + 0.2, axes=(2,), interval="90 %")
    bars, whiskers = first(panel, Bars), first(panel, Whiskers)
    assert np.allclose(whiskers.lower, np.array(bars.length) - 0.1)
    assert np.allclose(whiskers.upper, np.array(bars.length) + 0.2)
    assert "whiskers: 90 %" in panel.axes.note


def test_contributions_scores_and_shares_have_the_numbers_of_the_model():
    model = PCA(2, standardize=True).fit(FRAME)
    panel = plots.contributions_of(model, 1)
    assert panel.axes.title == "Contributions to PC2"
    assert "together 100.0 %" in panel.axes.note
    with pytest.raises(InputError, match="no such component"):
        plots.contributions_of(model, 2)
    model = PCA(2).fit(X)
    Z = model.transform(X)
    panel = plots.scores_of(model, Z, WINE.target, ellipse=0.9)
    assert panel.axes.x_label == f"PC1 ({100 * model.explained_variance_ratio_[0]:.1f} %)"
    assert first(plots.shares_of(model), Points).y[1] == pytest.approx(
        100 * model.explained_variance_ratio_[0]
    )


def test_outliers_of_a_fit_and_of_a_robust_model():
    found = outliers(X / X.std(axis=0), 2)
    panel = plots.outlier_map_of(found)
    assert panel.axes.note.startswith(f"{len(found.flagged)} of 178 rows of the fit")
    model = RobustPCA(2, standardize=True).fit(X)
    panel = plots.outlier_map_of(model)
    above = (model.score_distance_ > model.score_cutoff_) | (
        model.orthogonal_distance_ > model.orthogonal_cutoff_
    )
    assert panel.axes.note.startswith(f"{above.sum()} of 178")
    with pytest.raises(InputError, match="RobustPCA"):
        plots.outlier_map_of(PCA(2).fit(X))


@pytest.mark.parametrize(
    "maker", [plots.loadings_of, plots.circle_of, plots.contributions_of, plots.shares_of]
)
def test_a_model_without_the_numbers_is_refused_in_words(maker):
    with pytest.raises(InputError, match=r"_, which the model has not"):
        maker(SimpleNamespace())
    if maker is not plots.shares_of:
        with pytest.raises(InputError, match="components_"):
            maker(KernelPCA(2).fit(X))


def test_reconstruction_errors_are_those_of_the_rows():
    fitted, others = X[::2], X[1::2]
    model = PCA(standardize=True).fit(fitted)
    line, held = [m for m in plots.reconstruction_of(model, others).marks if type(m) is Line]
    for rows, curve in ((fitted, line), (others, held)):
        scaled = (rows - model.mean_) / model.scale_
        for k in (0, 1, 5, 13):
            few = PCA(max(k, 1), standardize=True).fit(fitted)
            back = (
                few.inverse_transform(few.transform(rows)) if k else np.tile(few.mean_, (89, 1))
            )
            lost = np.sum(((rows - back) / model.scale_) ** 2) / np.sum(scaled**2)
            assert np.isclose(curve.y[k], 100 * lost, atol=1e-8)
    assert line.y == tuple(sorted(line.y, reverse=True))
    rival = sklearn.decomposition.PCA(3).fit(X)
    for known in (rival, KernelPCA(3).fit(X), PCA(3).fit(X)):
        assert "<svg" in plots.figure([plots.reconstruction_of(known)])
    for bad in (X[:, :3], [[np.nan] * 13], [1.0]):
        refuses("rows to rebuild are finite numbers", plots.reconstruction_of, model, bad)
    refuses("components_", plots.reconstruction_of, KernelPCA(3).fit(X), X)
    refuses("are not negative", plots.reconstruction, [1.0, -0.1])
