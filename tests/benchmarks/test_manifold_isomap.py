import json

import numpy as np
import pytest
from benchmarks import manifold_isomap


def test_the_roll_is_the_image_of_its_sheet():
    rows, sheet = manifold_isomap.roll(50)
    np.testing.assert_array_equal(rows, manifold_isomap.roll(50)[0])
    t = np.linalg.norm(rows[:, [0, 2]], axis=1)
    step = 1e-6
    along = lambda t: 0.5 * (t * np.sqrt(1 + t**2) + np.arcsinh(t))  # noqa: E731
    np.testing.assert_allclose(sheet[:, 0], along(t))
    speed = (along(t + step) - along(t)) / step  # of a point on the spiral r = t
    np.testing.assert_allclose(speed, np.sqrt(1 + t**2), rtol=1e-4)


def test_agreement_does_not_mind_turns_and_mirrors():
    z = np.random.default_rng(0).standard_normal((40, 2)) * [3, 1]
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((2, 2)))[0]
    np.testing.assert_allclose(manifold_isomap.agreement(z, z @ turn + 5), 1)
    noise = np.random.default_rng(2).standard_normal((40, 2))
    assert min(manifold_isomap.agreement(z, z + 3 * noise)) < 0.9


def test_a_case_is_measured():
    cell = manifold_isomap.compared(300, landmarks=80)
    json.dumps(cell)
    assert min(cell["correlations"]) > 0.99
    assert cell["landmarks"] == 80
    assert cell["ratio"] == pytest.approx(cell["rival_seconds"] / cell["seconds"])
