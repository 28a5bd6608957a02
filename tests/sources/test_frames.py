"""Frames as sources."""

import numpy as np
import polars as pl

from mercer.sources._frames import is_lazy


def test_lazy_frames_are_known():
    frame = pl.DataFrame({"a": [1.0, 2.0]})
    assert is_lazy(frame.lazy())
    assert not is_lazy(frame)
    assert not is_lazy(np.eye(2))
