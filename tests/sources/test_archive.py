"""Arrays of an archive are described by their headers, and damage is always told."""

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.sources.files._npz import Archive


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_are_loaded(tmp_path, save):
    path = tmp_path / "x.npz"
    tall = np.arange(12.0).reshape(4, 3)
    wanted = {
        "c": tall,
        "f": np.asfortranarray(tall),
        "one": np.array(7),
        "s": np.array(b"csr"),
    }
    save(path, **wanted)
    archive = Archive(path)
    assert set(archive.members) == set(wanted)
    for name, array in wanted.items():
        member = archive.describe(name)
        assert member.shape == array.shape
        np.testing.assert_array_equal(archive.load(member), array)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damage_is_told(tmp_path, save):
    """Flip single bytes anywhere: the numbers are right, or the file is refused."""
    whole, path = tmp_path / "whole.npz", tmp_path / "x.npz"
    X = np.random.default_rng(0).integers(0, 9, (40, 5)).astype(float)
    save(whole, X=X)
    good = whole.read_bytes()
    rng, refused = np.random.default_rng(1), list[str]()
    for at in rng.integers(0, len(good), 300):
        bad = bytearray(good)
        bad[at] ^= 1 << rng.integers(8)
        path.write_bytes(bad)
        try:
            archive = Archive(path)
            found = archive.load(archive.describe("X"))
        except InputError as error:
            refused.append(error.got)
        else:
            np.testing.assert_array_equal(found, X)
    assert len(refused) > 100
    assert all("x.npz" in got for got in refused)


def test_a_file_cut_off_is_refused(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, X=np.eye(50))
    good = path.read_bytes()
    for length in range(0, len(good), 997):
        path.write_bytes(good[:length])
        with pytest.raises(InputError, match=r"x\.npz"):
            Archive(path)
