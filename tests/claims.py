"""What many tests claim in a line: numbers agree, intervals hold, calls are refused."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest

from mercer.errors import DataWarning, InputError, MercerError


def agree(found, wanted, atol):
    """Assert that no number is off by more than `atol`."""
    np.testing.assert_allclose(found, wanted, rtol=0, atol=atol)


def hold(certificate, values, slack=0.0):
    """Assert that the intervals hold the values, a share `slack` of each being rounding."""
    room = slack * np.abs(values)
    assert np.all(certificate.lower <= values + room), f"{certificate.lower} above {values}"
    assert np.all(values - room <= certificate.upper), f"{values} above {certificate.upper}"


@contextmanager
def refused(kind=MercerError, match=None):
    """Assert that a block is refused: what is impossible, what was given, what to do."""
    with pytest.raises(kind, match=match) as caught:
        yield caught
    assert str(caught.value).count("\n") == 2


def refuses(words, act, /, *given, kind=InputError, **named):
    """Assert that a call is refused with these words, in three lines where they are ours."""
    with pytest.raises(kind, match=words) as caught:
        act(*given, **named)
    text = str(caught.value)
    if isinstance(caught.value, MercerError) and "feature names" not in text:  # of any number
        assert text.count("\n") == 2


def warned(words, act, /, *given, kind=DataWarning, **named):
    """Return what a call gives that warns with these words."""
    with pytest.warns(kind, match=words):
        return act(*given, **named)


def hushed(act, /, *given, kind=Warning, **named):
    """Return what a call gives, its warnings of a kind or of several left aside."""
    with warnings.catch_warnings():
        for each in kind if isinstance(kind, tuple) else (kind,):
            warnings.simplefilter("ignore", each)
        return act(*given, **named)
