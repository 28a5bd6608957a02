"""A walk is a fold over blocks in order; from wherever it goes on, the bits are the same."""

import threading

import numpy as np
import pytest
from pieces import Diary, Pieces

from mercer.arrays import listening
from mercer.operators import fetched, fold

X = np.random.default_rng(0).standard_normal((41, 3))


class Sum:
    """The sum of rows, in the order of the blocks, and what was seen of them."""

    def __init__(self, accepts=True):
        self.total, self.parts, self.accepts = np.zeros(3), [], accepts

    def step(self, rows, block):
        assert np.array_equal(block, X[rows])
        self.parts.append((rows.start, rows.stop))
        self.total = self.total + block.sum(axis=0)

    def keep(self):
        return {"total": self.total}

    def restore(self, kept, *, ended):
        if self.accepts:
            self.total = kept["total"].copy()
        return self.accepts


def walked(rows=6, journal=None, sums=None, source=None):
    sums, source = sums or Sum(), source or Pieces(X, 4, forecast=10)
    n = fold(source, rows, sums, sums.step, walk="one", title="pass 1", journal=journal)
    return n, sums, source


@pytest.mark.parametrize("rows", [1, 4, 6, 41, 100])
def test_every_row_once_and_in_order(rows):
    n, sums, source = walked(rows)
    assert n == 41
    assert sums.parts == [(at, min(at + rows, 41)) for at in range(0, 41, rows)]
    assert (source.shape, source.counted, source.walks) == ((41, 3), True, 1)


def test_it_goes_on_from_every_block_with_the_same_bits():
    diary = Diary()
    _, undisturbed, _ = walked(6, diary)
    assert [(rows, ended) for _, _, rows, ended in diary.notes] == [
        *((at, False) for at in (6, 12, 18, 24, 30, 36, 41)),
        (41, True),
    ]
    for _, kept, rows, ended in diary.notes:
        n, sums, source = walked(6, Diary({"one": (kept, rows, ended)}))
        assert np.array_equal(sums.total, undisturbed.total)
        assert n == 41
        assert (source.shape, source.counted) == ((41, 3), True)
        assert sums.parts == ([] if ended else undisturbed.parts[-(-rows // 6) :])
        assert source.walks == (0 if ended else 1)
        other = Diary({"one": ({"total": np.ones(3)}, 12, ended)})  # that does not belong
        _, anew, source = walked(6, other, Sum(accepts=False))
        assert (source.walks, len(anew.parts)) == (1, 7)
        assert np.array_equal(anew.total, undisturbed.total)
        sums = Sum()  # other walks are not touched
        fold(Pieces(X, 4), 6, sums, sums.step, walk="two", journal=other)
        assert len(sums.parts) == 7


def test_listeners_hear_rows_and_bytes_and_nothing_from_inside():
    heard = []

    class Listener:
        def begin(self, name, note):
            heard.append(name)

        def advance(self, done, total, words=""):
            heard.append((done, total, words))

        def end(self, name):
            heard.append("end")

    class Busy(Sum):
        def step(self, rows, block):
            super().step(rows, block)
            from mercer.arrays import advance, task

            with task("inside"):
                advance(1, 1)

    with listening(Listener()):
        walked(20, sums=Busy())
    assert heard == [
        "pass 1",
        (20, 20, "20 of about 20 rows, 984 B of 984 B"),
        (40, 40, "40 of about 40 rows, 984 B of 984 B"),
        (41, 41, "41 of about 41 rows, 984 B of 984 B"),
        "end",
    ]


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_a_step_that_fails_ends_the_reading(error):
    class Broken(Sum):
        def step(self, rows, block):
            super().step(rows, block)
            if len(self.parts) == 3:
                raise error

    before, diary = threading.active_count(), Diary()
    source = Pieces(X, 4, nap=0.002)
    with pytest.raises(error):
        walked(4, diary, Broken(), source)
    assert threading.active_count() == before
    assert source.begun[0] <= 4 * 5  # three blocks, one ahead, one begun
    assert [rows for _, _, rows, _ in diary.notes] == [4, 8]  # nothing half is noted
    diary = Diary()
    with pytest.raises(OSError, match="the disk is gone"):
        walked(4, diary, source=Pieces(X, 4, fail=3))
    assert [(rows, ended) for _, _, rows, ended in diary.notes] == [
        (at, False) for at in (4, 8, 12)
    ]


@pytest.mark.parametrize("elsewhere", [False, True])
def test_blocks_are_fetched_where_the_source_allows_it(elsewhere):
    seen = set()

    class Here(Pieces):
        def _pieces(self, walk):
            for piece in super()._pieces(walk):
                seen.add(threading.current_thread() is threading.main_thread())
                yield piece

    source = Here(X, 4)
    source.elsewhere = elsewhere
    parts = list(fetched(source, 6, 12))
    assert np.array_equal(np.concatenate(parts), X[12:])
    assert seen == {not elsewhere}
