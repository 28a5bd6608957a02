"""Tables of others and the numbers that they have printed for them."""

import json
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parents[1] / "data"
PUBLISHED = json.loads((DATA / "reference_values.json").read_text(encoding="utf-8"))


def same_up_to_sign(found, printed, atol):
    """Compare axes, the columns of both, each up to its sign."""
    printed = np.asarray(printed)
    signs = np.sign(np.sum(np.asarray(found) * printed, axis=0))
    np.testing.assert_allclose(found * signs, printed, atol=atol)
