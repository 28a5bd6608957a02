"""Dates as text: told apart from text, and counted in days as datetime does."""

import datetime as dt

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.tables.looking._column_facts import date_order, days


@pytest.mark.parametrize(
    ("cells", "order"),
    [
        (["2024-03-01", "2024-12-31"], "iso"),
        (["2024-03-01 12:30", "2024-03-01T12:30:05Z", "2024-03-01 12:30:05.25"], "iso"),
        (["2024-03-01T12:30:05+01:00"], "iso"),
        (["31.12.2024", "1.2.2024"], "day"),
        (["12/31/2024", "1/2/2024"], "month"),
        (["01/03/2024", "12/03/2024"], "unclear"),
        (["13/01/2024", "01/13/2024"], None),
        (["32.01.2024"], None),
        (["1.2.2024", "soon"], None),
        (["00.01.2024"], None),
        (["2024-03-01x"], None),
        (["20240301"], None),
        (["1.2.3"], None),
        (["12:30"], None),
        ([], None),
    ],
)
def test_which_way_dates_are_written(cells, order):
    assert date_order(cells) == order


moments = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1))
EPOCH = dt.datetime(1970, 1, 1)


@given(st.lists(moments, min_size=1, max_size=5))
def test_days_are_those_of_datetime(times):
    exact = [(time - EPOCH) / dt.timedelta(days=1) for time in times]
    typed = days(pl.Series(times)).to_list()
    written = days(pl.Series([time.isoformat(" ") for time in times]), "iso").to_list()
    assert typed == pytest.approx(exact, rel=1e-15, abs=1e-11)
    assert written == pytest.approx(exact, rel=1e-15, abs=1e-10)
    dates = [time.date() for time in times]
    whole = [(date - EPOCH.date()).days for date in dates]
    assert days(pl.Series(dates)).to_list() == whole
    for order, form in (("iso", "%Y-%m-%d"), ("day", "%d.%m.%Y"), ("month", "%m/%d/%Y")):
        cells = pl.Series([date.strftime(form) for date in dates])
        assert days(cells, order).to_list() == whole


def test_zones_short_years_and_what_is_no_date():
    cells = pl.Series(["1970-01-02T00:00:00+02:00", "1970-01-01 18:00-0600", "x", None, ""])
    assert days(cells, "iso").to_list() == [1 - 2 / 24, 1.0, None, None, None]
    assert days(pl.Series(["2024-02-30"]), "iso").to_list() == [None]
    assert days(pl.Series(["1.2.70", "1.2.24"]), "day").to_list() == [31.0, 19754.0]
