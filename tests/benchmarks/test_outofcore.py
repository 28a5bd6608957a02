import numpy as np
from benchmarks import outofcore, scale


def test_a_file_is_what_its_variances_say(tmp_path):
    path = tmp_path / "few.npy"
    found = outofcore._write(path, 50_000, 40)
    rows = np.load(path)
    assert rows.shape == (50_000, 40)
    assert rows.dtype == np.float32
    wide = rows.astype(np.float64)
    wide -= wide.mean(axis=0)
    true = np.linalg.svd(wide, compute_uv=False) ** 2 / (len(wide) - 1)
    np.testing.assert_allclose(found, true, rtol=1e-9)
    assert abs(float(rows.mean()) - 288) < 1


def test_a_slow_spectrum_is_known(tmp_path, monkeypatch):
    monkeypatch.setattr(outofcore, "DATA", tmp_path)
    path, axes = outofcore._slow(200, 50, 5)
    rows = np.load(path)
    _, s, vt = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(s, np.arange(1, 51) ** -0.5, rtol=1e-10)
    assert outofcore._sine(vt[:5], axes) < 1e-6
    assert outofcore._slow_error(s[:5] ** 2 / 199, 200) < 1e-10


def test_floors_are_numbers(tmp_path):
    path = tmp_path / "some"
    path.write_bytes(bytes(1000))
    assert 0 < outofcore._read_seconds(path) < 10


def test_the_section_names_its_file():
    result = {"cells": [{"case": "file-5gb", "seconds": 3.0, "holds": True}]}
    text = "\n".join(scale.section(result, "PCA past memory", "outofcore"))
    assert "results/outofcore.json" in text
    assert "| file-5gb |" in text
