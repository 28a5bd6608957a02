import dataclasses
import json

import numpy as np

from mercer.studies._plain_result import plain


@dataclasses.dataclass(frozen=True)
class Inner:
    numbers: np.ndarray
    word: str = "a"


@dataclasses.dataclass(frozen=True)
class Outer:
    parts: tuple[Inner, ...]
    count: int = 3


def test_values_inside_values_become_plain_data():
    found = plain(Outer((Inner(np.array([[1.5, 2.0]])), Inner(np.arange(2)))))
    assert found == {
        "parts": [{"numbers": [[1.5, 2.0]], "word": "a"}, {"numbers": [0, 1], "word": "a"}],
        "count": 3,
    }
    assert json.loads(json.dumps(found)) == found
