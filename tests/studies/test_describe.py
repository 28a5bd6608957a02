import numpy as np
import pandas as pd
import pytest
from scipy import stats

import mercer
from mercer.errors import InputError

RNG = np.random.default_rng(0)
N = 200
FACTOR = RNG.standard_normal(N)
FRAME = pd.DataFrame(
    {
        "with": FACTOR + 0.2 * RNG.standard_normal(N),
        "against": -FACTOR + 0.2 * RNG.standard_normal(N),
        "noise": 0.3 * RNG.standard_normal(N),
    }
)
COIN = np.array(["h", "t"] * (N // 2))[np.argsort(np.argsort(FACTOR))]  # turns by rank
SIDE = {"side": np.where(FACTOR > 0, "right", "left"), "coin": COIN}


def test_an_axis_is_told_by_its_columns_and_levels():
    model = mercer.PCA(2).fit(FRAME)
    found = mercer.describe_axes(model, FRAME, sup=SIDE, axes=2)
    names = [trait.name for trait in found.traits[0]]
    assert {"with", "against", "side", "side=left", "side=right"} <= set(names)
    assert not {"coin", "coin=h"} & set(names)
    trait = next(t for t in found.traits[0] if t.name == "with")
    z = model.transform(FRAME)[:, 0]
    assert trait.size == pytest.approx(np.corrcoef(FRAME["with"], z)[0, 1])
    turned = np.sign(trait.size)
    right = next(t for t in found.traits[0] if t.name == "side=right")
    assert np.sign(right.size) == turned
    assert "grows with" in found.words[0]
    assert "falls with" in found.words[0]
    assert list(found.names) == ["pca0", "pca1"]


def test_traits_of_groups_are_tested_and_noise_has_none():
    found = mercer.describe_groups(SIDE["side"], FRAME.assign(coin=SIDE["coin"]))
    assert list(found.names) == ["left", "right"]
    right = {t.name: t for t in found.traits[1]}
    assert set(right) == {"with", "against"}
    assert right["with"].here == pytest.approx(FRAME["with"][FACTOR > 0].mean())
    assert right["with"].overall == pytest.approx(FRAME["with"].mean())
    assert found.words[1].startswith("right: high with; low against")


def test_levels_of_groups_have_their_shares():
    colours = np.where((FACTOR > 0) & (RNG.random(N) < 0.9), "red", "blue")
    found = mercer.describe_groups(SIDE["side"], {"colour": colours})
    red = next(t for t in found.traits[1] if t.name == "colour=red")
    inside = FACTOR > 0
    assert red.here == pytest.approx(np.mean(colours[inside] == "red"))
    law = stats.hypergeom(N, np.sum(colours == "red"), np.sum(inside))
    assert red.p == pytest.approx(2 * law.sf(np.sum(colours[inside] == "red") - 1), rel=1e-6)
    assert "often colour=red" in found.words[1]
    assert found.plain()["names"] == ["left", "right"]


def test_groups_of_chance_are_like_all_rows():
    quiet = 0
    for _ in range(40):
        found = mercer.describe_groups(
            RNG.choice(["a", "b", "c"], 90), RNG.normal(size=(90, 8))
        )
        quiet += not any(found.traits)
    assert quiet >= 32


def test_one_group_is_refused():
    with pytest.raises(InputError, match="two or more"):
        mercer.describe_groups(["a"] * 5, np.ones((5, 2)))
