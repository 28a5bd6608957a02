import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose

from mercer.diagnostics import health
from mercer.diagnostics.health_checks._column_checks import _f_tests, _independent
from mercer.diagnostics.health_checks._health import seen_of
from mercer.diagnostics.health_checks._map_checks import _angles, shares

from .fits import factors, found, parts


def clean(n=200, p=6, seed=0):
    return factors(n, p, np.random.default_rng(seed))


@pytest.mark.parametrize("factor", [1.0, 1e-140, 1e140])
def test_a_column_in_other_units_is_named(factor):
    X = clean() * [1, 1, 1000, 1, 1, 1]
    finding = found(X * factor, names=list("abcdef"))["M104"]
    assert finding.got.startswith("c: 100.00%") or finding.got.startswith("c: 99.9")
    assert "standardize=True" in finding.fix
    assert "M104" not in found(X / X.std(axis=0))


def test_columns_in_other_units():
    X = clean(400, 30) * np.where(np.arange(30) < 3, 500.0, 1.0)
    finding = found(X)["M104"]
    assert "3 of 30 columns" in finding.what
    for name in ("column 0", "column 1", "column 2"):
        assert name in finding.got
    rng = np.random.default_rng(0)
    assert "M104" not in found(clean() * [1, 2, 4, 1, 2, 4])
    assert "M104" not in found(rng.standard_normal((50, 1)) * 1e9, 1)
    assert "M104" not in found(rng.standard_normal((50, 2)) * [3, 1], 1)
    # A spectrum with one band: neighbours share a unit.
    band = np.exp(-(((np.arange(300) - 150) / 6.0) ** 2))
    assert "M104" not in found(rng.standard_normal((50, 1)) * band, 1)


def test_copies_and_sums_are_named():
    X = clean()
    X = np.c_[X, X[:, 1] * 2.54 + 7, -X[:, 1]]
    got = found(X, names=[*"abcdef", "inch", "minus"])["M109"].got
    assert "b, inch and minus" in got
    X = clean()
    X = np.c_[X, X[:, 0] + X[:, 3]]
    got = found(X, names=[*"abcdef", "total"])["M109"].got
    assert "total is made up of a and d" in got
    X = clean(300, 8)
    X = np.c_[X, X[:, 0] - X[:, 3], X[:, 5] + 2 * X[:, 6] + X[:, 7]]
    assert "column 8 is made up of column 0 and column 3" in found(X)["M109"].got
    X = np.random.default_rng(0).dirichlet(np.ones(9), 100)
    assert "every row adds up to the same" in found(X)["M109"].got


def test_copies_are_found_and_near_ones_are_silent():
    X = clean()
    X = np.c_[X, X[:, 0] + 0.05 * np.random.default_rng(1).standard_normal(200)]
    assert "M109" not in found(X)
    wide = clean(20, 40)  # more columns than rows are all sums of each other
    assert "M109" not in found(wide)
    X = np.random.default_rng(0).standard_normal((30, 2000))
    X[:, 1700] = X[:, 12]
    assert "column 12 and column 1700" in found(X)["M109"].got


def test_constant_columns_are_named():
    X = clean()
    X[:, 2] = 4.0
    assert "c, of 6 columns" in found(X, names=list("abcdef"))["M110"].got
    X[:, 4] = 1e8
    assert "2 columns do not vary" in found(X)["M110"].what
    assert "M110" not in found(clean())


def test_a_long_tail_is_named():
    rng = np.random.default_rng(0)
    X = clean(2000)
    X[:, 1] = np.exp(2 * rng.standard_normal(2000)) / 10
    finding = found(X, names=list("abcdef"))["M111"]
    assert "b (" in finding.got
    X[:, 1] = np.log(X[:, 1])
    assert "M111" not in found(X)
    X = clean(2000)
    X[:, 1] = 0.001 * np.exp(2 * np.random.default_rng(0).standard_normal(2000))
    assert X[:, 1].std() < 0.1
    assert "M111" not in found(X)


def test_of_some_rows_little_is_said():
    X = clean()
    X[:, 2] = 0.0
    finding = {f.code: f for f in health(X, X[:, :2], [2.0, 1.0], rows=10 * len(X))}["M110"]
    assert finding.what == "a column hardly varies"
    assert f"constant in the {len(X):,} rows looked at" in finding.got
    X = clean()
    rare = np.zeros(len(X))
    rare[3] = 1.0
    X[:, 0] = X[:, 1] = rare
    scores = X[:, 2:4]
    codes = [f.code for f in health(X, scores, [2.0, 1.0], rows=10 * len(X))]
    assert "M109" not in codes
    assert "M109" in [f.code for f in health(X, scores, [2.0, 1.0])]


def chosen(rng, n=40, columns=5000, kept=50, groups=2, real=0, effect=0.0):
    """Rows, and the columns that tell the groups apart best."""
    labels = np.arange(n) % groups
    X = rng.standard_normal((n, columns))
    X[:, :real] += effect * labels[:, None]
    best = np.argsort(_f_tests(X - X.mean(axis=0), labels, groups)[1])[:kept]
    return X[:, best], labels


def alarms(draws, make):
    count = 0
    for seed in range(draws):
        X, labels = make(np.random.default_rng(seed))
        count += "M105" in found(X, 2, groups=labels)
    return count / draws


def test_columns_chosen_by_the_groups():
    X, labels = chosen(np.random.default_rng(0))
    scores, _, _ = parts(X, 1)
    a, b = scores[labels == 0, 0], scores[labels == 1, 0]
    apart = abs(a.mean() - b.mean()) / np.sqrt((a.var() + b.var()) / 2)
    assert apart > 3.5  # groups of nothing, far apart on PC1
    finding = found(X, 1, groups=np.array(["x", "y"])[labels])["M105"]
    assert "all 50 columns" in finding.got
    assert f"{apart:.1f} sd apart on PC1" in finding.got
    assert "M105" not in found(X, 1)  # nothing is said of groups that are not given


@pytest.mark.parametrize(
    "case",
    [
        {},
        {"n": 20},
        {"n": 60, "groups": 3},
        {"columns": 500, "kept": 20},
        {"real": 20, "effect": 2.0},
    ],
    ids=["two groups", "few rows", "three groups", "fewer columns", "some are real"],
)
def test_most_choices_are_seen(case):
    assert alarms(20, lambda rng: chosen(rng, **case)) >= 0.9


def effects(rng, n, p, size, shared=0.0):
    labels = np.arange(n) % 2
    X = rng.standard_normal((n, p)) + shared * rng.standard_normal((n, 1))
    return X + np.outer(labels, size * rng.standard_normal(p)), labels


@pytest.mark.parametrize("size", [0.0, 0.5, 1.0, 3.0])
@pytest.mark.parametrize(("n", "p"), [(40, 30), (300, 10), (40, 200)])
def test_columns_that_were_not_chosen(n, p, size):
    assert alarms(40, lambda rng: effects(rng, n, p, size)) <= 0.025


def test_shared_effects_and_spectra_raise_no_alarm():
    def same(rng):
        labels = np.arange(60) % 2
        return rng.standard_normal((60, 20)) + labels[:, None], labels

    assert alarms(100, same) <= 0.02

    def spectra(rng):
        labels = np.arange(60) % 2
        t = np.linspace(0, 1, 120)
        bands = np.exp(-((t - np.linspace(0, 1, 6)[:, None]) ** 2) / 0.02)
        amounts = rng.standard_normal((60, 6)) + labels[:, None]
        return amounts @ bands + 0.01 * rng.standard_normal((60, 120)), labels

    assert alarms(30, spectra) == 0


def test_f_tests_are_those_of_scipy():
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((30, 4)), np.arange(30) % 3
    X = X - X.mean(axis=0)
    want = scipy.stats.f_oneway(*[X[labels == g] for g in range(3)]).pvalue
    np.testing.assert_allclose(_f_tests(X, labels, 3)[1], want)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 30))
    assert _independent(X, 199) > 25
    assert _independent(np.repeat(X[:, :3], 10, axis=1), 199) < 4


@pytest.mark.parametrize("groups", [np.arange(12), np.zeros(12), np.arange(12) % 7])
def test_groups_of_one_row_say_nothing(groups):
    X = np.random.default_rng(0).standard_normal((12, 20))
    assert "M105" not in found(X, 1, groups=groups)


def gradient(n=60, p=30, width=0.15):
    """Species that each live on a stretch of one gradient: the horseshoe of ecology."""
    at = np.linspace(0, 1, n)[:, None]
    return np.exp(-(((at - np.linspace(-0.1, 1.1, p)) / width) ** 2))


def test_an_arch_is_named():
    rng = np.random.default_rng(0)
    order = rng.permutation(60)
    finding = found(gradient(width=0.6)[order], 3)["M101"]
    assert "PC2 is a curve of PC1" in finding.what
    t = rng.uniform(-1, 1, 200)
    X = np.c_[2 * t, t**2 * 1.5, rng.standard_normal(200) * 0.05]
    finding = found(X, 2)["M101"]
    assert "R² 0.9" in finding.got or "R² 1.00" in finding.got
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-1, 1, (2, 400))
    X = np.c_[3 * a, 2 * b, 1.5 * a * b, rng.standard_normal(400) * 0.1]
    assert "PC3 is a curve of PC1 and PC2" in found(X, 3)["M101"].what


def test_what_is_no_arch():
    rng = np.random.default_rng(0)
    corners = np.array([[0, 0, 0], [10, 6, 0], [20, 0, 0]])
    X = corners[np.arange(150) % 3] + rng.standard_normal((150, 3)) * 0.5
    assert "M101" not in found(X, 2)
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, 300)
    X = np.c_[3 * t, t**2 + rng.standard_normal(300) * 0.3]
    assert "M101" not in found(X, 2)
    for seed in range(50):
        X = np.random.default_rng(seed).standard_normal((12, 8))
        assert "M101" not in found(X, 5)


@pytest.mark.parametrize(("n", "p"), [(50, 100), (200, 10), (1000, 40)])
def test_random_walks_are_a_series(n, p):
    X = np.cumsum(np.random.default_rng(n).standard_normal((n, p)), axis=0)
    finding = found(X, 3)["M102"]
    assert "along PC1" in finding.got
    shuffled = np.random.default_rng(0).permutation(X)
    assert "M102" not in found(shuffled, 3)


def test_what_is_no_series():
    rng = np.random.default_rng(0)
    X = factors(300, 6, rng)
    X = X + np.outer(np.arange(300) // 60, np.ones(6)) * 8
    assert "M102" not in found(X, 2)
    Y = factors(300, 6, rng, (12.0, 4.0))
    Y = Y[np.argsort(Y[:, 0])]
    assert "M102" not in found(Y, 2)
    X = np.cumsum(np.random.default_rng(0).standard_normal((20, 5)), axis=0)
    assert "M102" not in found(X, 2)


def test_rows_that_make_an_axis_are_named():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    X[17, 2] = 300
    finding = found(X, 1)["M103"]
    assert "one row makes" in finding.what
    assert "row 17: 99" in finding.got or "row 17: 100%" in finding.got
    named = found(X, 1, row_names=[f"case-{i}" for i in range(200)])["M103"]
    assert "row case-17" in named.got
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 5))
    X[[3, 500, 900], 4] = [60, -55, 58]
    finding = found(X, 1)["M103"]
    assert "of 2,000 rows make" in finding.what
    assert all(f"row {i}" in finding.got for i in (3, 500, 900))


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_shares_of_few_rows_are_large_by_chance(n):
    alarms = [
        "M103" in found(np.random.default_rng([n, seed]).standard_normal((n, 6)), 1)
        for seed in range(100)
    ]
    assert np.mean(alarms) <= 0.01


def test_copied_rows_are_counted():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 4))
    X = np.concatenate([X, X[5:15], X[5:6]])
    got = found(X)["M108"].got
    assert "11 of 111 rows" in got
    assert "3 times, first as row 5" in got
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = np.clip(np.round(factors(2000, 6, rng, (1.5, 1.0)) + 3), 1, 5)
        assert len(np.unique(X, axis=0)) < 1500
        assert "M108" not in found(X)
    assert "M108" not in found(np.arange(40.0)[:, None] % 7, 1)
    X = np.random.default_rng(0).standard_normal((300, 3))
    X[4] = X[5]
    assert "M108" not in found(X)


def test_axes_alike_are_a_plane():
    named = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((300, 6)) * [9, 3, 3, 1, 0.5, 0.2]
        finding = found(X, 4).get("M106")
        if finding is not None:
            named += 1
            assert finding.what == "PC2 and PC3: read the plane, not the axes"
            assert "300 other rows would turn PC2 and PC3 by" in finding.got
    assert named >= 26  # of variances that are equal three in four


def test_axes_of_noise_and_several_planes():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        assert "M106" not in found(rng.standard_normal((300, 6)) * [9, 5, 3, 1.5, 0.7, 0.2], 5)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 12))
    X[:, 0] *= 8
    assert found(X, 3)["M106"].what == "PC2, PC3 and what follows cannot be told apart"
    assert found(X, 6)["M106"].what == "PC2 to PC6 and what follows cannot be told apart"
    scores = np.random.default_rng(0).standard_normal((500, 5)) * [6, 6, 3, 1, 1]
    (finding,) = health(None, scores, [36.0, 35.9, 9, 1.01, 1])
    assert finding.what == "PC1 and PC2; PC4 and PC5: read the planes, not the axes"


def test_equal_variances_to_rounding():
    X = np.concatenate([np.eye(4), -np.eye(4)])
    scores, variances = X[:, :3], np.full(3, 2 / 7)
    (finding,) = health(X, scores, variances, inseparable=((0, 1, 2, 3),), rows=1e12)
    assert finding.what == "PC1 to PC3 and what follows cannot be told apart"
    assert "the same variance to rounding" in finding.got
    (finding,) = health(None, scores, [3.0, 2.0, 2.0], inseparable=((1, 2),), rows=1e12)
    assert finding.what == "PC2 and PC3: read the plane, not the axes"


@pytest.mark.parametrize("gap", [1.4, 2.0])
def test_the_angle_is_that_between_samples(gap):
    """Against draws: the root mean square angle of PC1 from its true direction."""
    n, sizes = 400, np.sqrt([gap, 1.0, 0.01])
    turned, said = [], []
    for seed in range(300):
        X = np.random.default_rng(seed).standard_normal((n, 3)) * sizes
        axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2]
        turned.append(np.arctan2(abs(axes[0, 1]), abs(axes[0, 0])))
        scores = (X - X.mean(axis=0)) @ axes.T
        said.append(_angles(seen_of(X, scores, scores.var(axis=0, ddof=1)))[0])
    assert_allclose(np.median(said), np.sqrt(np.mean(np.square(turned))), rtol=0.15)


def test_noise_explains_little_of_other_rows():
    X = np.random.default_rng(0).standard_normal((20, 200))
    finding = found(X, 5)["M107"]
    assert "PC1 to PC5: 3" in finding.got  # 37 % of these rows, 2.4 % of others
    assert "20 rows, 200 columns" in finding.got
    assert "M107" not in found(factors(40, 200, np.random.default_rng(0), (40.0, 30.0)), 2)
    assert "M107" not in found(np.random.default_rng(0).standard_normal((60, 5)), 2)
    assert shares(np.ones((6, 4)), 1) == (0.0, 0.0)


@pytest.mark.parametrize("shape", [(24, 5), (15, 40)])
def test_shares_are_those_of_plain_axes(shape):
    X = factors(*shape, np.random.default_rng(0)) + 3
    k, folds = 2, 4
    fold = np.random.default_rng(0).permutation(shape[0]) % folds
    explained = total = 0.0
    for number in range(folds):
        inside, outside = X[fold != number], X[fold == number]
        mean = inside.mean(axis=0)
        axes = np.linalg.svd(inside - mean, full_matrices=False)[2][:k]
        explained += np.sum(((outside - mean) @ axes.T) ** 2)
        total += np.sum((outside - mean) ** 2)
    s = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    assert_allclose(shares(X, k, folds), [s[:k].sum() / s.sum(), explained / total])
