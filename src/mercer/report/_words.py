"""Words for numbers: counts, shares, lists, without a wrong plural."""

import re
from collections.abc import Sequence
from typing import Any


def count(number: int, thing: str) -> str:
    """Return "no rows", "1 row", "1,234 rows".

    Examples
    --------
    >>> count(0, "row"), count(1, "row"), count(1234, "row")
    ('no rows', '1 row', '1,234 rows')
    """
    if number == 1:
        return f"1 {thing}"
    return f"{number:,} {thing}s" if number else f"no {thing}s"


def percent(share: float) -> str:
    """Return a share in per cent with the figures it deserves.

    Examples
    --------
    >>> percent(0.1234), percent(0.9996), percent(0.00012), percent(0)
    ('12.3 %', 'over 99.9 %', '0.012 %', '0 %')
    """
    hundred = 100 * share
    if hundred == 0:
        return "0 %"
    if 99.95 < hundred < 100 - 1e-9:  # a sum of shares may miss one by rounding
        return "over 99.9 %"
    return f"{hundred:.1f} %" if hundred >= 0.1 else f"{hundred:.2g} %"


def listed(words: Sequence[str], most: int = 5) -> str:
    """Return "a, b and c", or the first few and how many more; never "and 1 more".

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a"] * 9, most=2), listed(["a"] * 3, most=2)
    ('a, b and c', 'a, a and 7 more', 'a, a and a')
    """
    if len(words) > most + 1:
        return ", ".join(words[:most]) + f" and {len(words) - most:,} more"
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def axes_named(first: int, last: int) -> str:
    """Return "PC3", "PC3 and PC4" or "PC3 to PC6", counted from 1.

    Examples
    --------
    >>> axes_named(3, 3), axes_named(3, 4), axes_named(3, 6)
    ('PC3', 'PC3 and PC4', 'PC3 to PC6')
    """
    if last - first < 2:
        return " and ".join(f"PC{axis}" for axis in range(first, last + 1))
    return f"PC{first} to PC{last}"


def short(thing: Any) -> str:
    """Return what something is called, with numbers of four figures.

    Examples
    --------
    >>> short("rbf(lengthscale=0.644053572867971)")
    'rbf(lengthscale=0.6441)'
    """
    return re.sub(
        r"\d+\.\d{4,}(e[-+]?\d+)?", lambda found: f"{float(found.group()):.4g}", str(thing)
    )


def number(value: float) -> str:
    """Return a number with four figures."""
    return f"{value:,.4g}"
