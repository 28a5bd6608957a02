"""No writer takes the place of what it reads: whatever the name, the kind and the way."""

import contextlib
import gzip
import mmap
import os
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import mercer
from mercer.errors import InputError
from mercer.report import report

X = np.random.default_rng(5).normal(size=(30, 4)) + 3.0
FRAME = pl.DataFrame(X, schema=["a", "b", "c", "d"])
MODEL = mercer.PCA(2).fit(X)
NAMED = mercer.PCA(2).fit(FRAME)
PLACE = "place of the input"


def written(folder, kind):
    """Return a file, or a folder, of one kind with the same rows."""
    path = folder / f"d.{kind}"
    if kind == "npy":
        np.save(path, X)
    elif kind == "npz":
        scipy.sparse.save_npz(path, scipy.sparse.csr_array(X))
    elif kind in ("csv", "tsv", "csv.gz"):
        text = FRAME.write_csv(separator="\t" if kind == "tsv" else ",")
        path.write_bytes(gzip.compress(text.encode()) if kind == "csv.gz" else text.encode())
    elif kind == "parquet":
        FRAME.write_parquet(path)
    elif kind == "arrow":
        FRAME.write_ipc(path)
    elif kind == "ndjson":
        FRAME.write_ndjson(path)
    elif kind == "h5":
        h5py = pytest.importorskip("h5py")
        with h5py.File(path, "w") as file:
            file["x"] = X
    elif kind == "zarr":
        pytest.importorskip("zarr").save(path, X)
    return path


KINDS = ["npy", "npz", "csv", "tsv", "csv.gz", "parquet", "arrow", "ndjson", "h5"]


def state(folder):
    """Return all that lies in a folder: names, links and bytes."""
    found = sorted(folder.rglob("*"))
    return [(p.name, p.is_symlink(), p.is_file() and p.read_bytes()) for p in found]


def refused(folder, call):
    """Hold that a call is refused in three lines, and that nothing in the folder changes."""
    before = state(folder)
    with pytest.raises(InputError, match=PLACE) as caught:
        call()
    assert len(str(caught.value).splitlines()) == 3
    assert state(folder) == before


def other_name(path, way):
    """Return another name of a file, which ends as the name of coordinates does."""
    other = path.with_name("z.csv")
    if way == "symbolic link":
        other.symlink_to(path)
    elif way == "link to a link":
        path.with_name("between").symlink_to(path.name)
        other.symlink_to("between")
    elif way == "hard link":
        os.link(path, other)
    elif way == "relative":
        return os.path.relpath(path)
    elif way == "detour":
        return path.parent / ".." / path.parent.name / path.name
    else:
        return path
    return other


WAYS = ["itself", "symbolic link", "link to a link", "hard link", "relative", "detour"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_is_never_the_place_of_its_own_coordinates(tmp_path, kind, way):
    path = written(tmp_path, kind)
    model = NAMED if kind not in ("npy", "npz", "h5") else MODEL
    out = other_name(path, way)
    refused(tmp_path, lambda: model.transform(path, out=out))
    refused(tmp_path, lambda: model.transform(mercer.scan(path), out=str(out)))
    if way.endswith("link"):
        again = path.with_name(f"again.{kind}")
        again.symlink_to(path)
        refused(tmp_path, lambda: model.transform(again, out=out))
        refused(tmp_path, lambda: model.transform(again, out=path))


def generated(path):
    with path.open("rb") as file:
        yield np.load(file)


HELD = {
    "memmap": lambda path: np.load(path, mmap_mode="r"),
    "writable memmap": lambda path: np.load(path, mmap_mode="r+"),
    "copy on write": lambda path: np.load(path, mmap_mode="c"),
    "some rows": lambda path: np.load(path, mmap_mode="r")[3:20],
    "some columns, turned": lambda path: np.load(path, mmap_mode="r")[::-2, ::-1],
    "plain array": lambda path: np.asarray(np.load(path, mmap_mode="r")),
    "a source": lambda path: mercer.scan(np.load(path, mmap_mode="r")),
    "a frame": lambda path: pd.DataFrame(np.load(path, mmap_mode="r"), copy=False),
    "blocks": lambda path: iter(np.array_split(np.load(path, mmap_mode="r"), 3)),
    "makes blocks": lambda path: lambda: iter(np.array_split(np.load(path, mmap_mode="r"), 3)),
    "reads blocks": generated,
    "makes readers": lambda path: lambda: generated(path),
}


@pytest.mark.parametrize("held", HELD)
def test_rows_that_lie_in_a_file_are_known(tmp_path, held):
    path = written(tmp_path, "npy")
    other = other_name(path, "hard link")
    for out in (path, other):
        refused(tmp_path, lambda out=out: MODEL.transform(HELD[held](path), out=out))


@pytest.mark.skipif(sys.platform != "linux", reason="the system says what is mapped")
def test_bytes_mapped_without_numpy_are_known(tmp_path):
    path = tmp_path / "d.npy"
    path.write_bytes(X.tobytes())
    with path.open("rb") as file:
        held = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    rows = np.frombuffer(held).reshape(X.shape)
    refused(tmp_path, lambda: MODEL.transform(rows, out=path))
    sparse = scipy.sparse.csr_array(X)
    sparse.data = np.frombuffer(held)
    refused(tmp_path, lambda: MODEL.transform(sparse, out=path))


def duckdb_rows(name):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().sql(f"select a, b, c, d from '{name}' where a > -99")


QUERIES = {
    "polars": lambda f: pl.scan_csv(f / "d.csv").with_columns(pl.col("a") * 2),
    "polars, several": lambda f: pl.scan_csv([f / "0.csv", f / "d.csv", f / "0.csv"]),
    "polars, pattern": lambda f: pl.scan_csv(f / "*.csv"),
    "duckdb": lambda f: duckdb_rows(f / "d.csv"),
    "duckdb, pattern": lambda f: duckdb_rows(f / "*.csv"),
    "pandas, in chunks": lambda f: pd.read_csv(f / "d.csv", chunksize=10),
}


@pytest.mark.parametrize("query", QUERIES)
def test_files_behind_queries_are_known(tmp_path, query):
    path = written(tmp_path, "csv")
    (tmp_path / "0.csv").write_bytes(path.read_bytes())
    rows = QUERIES[query](tmp_path)
    refused(tmp_path, lambda: NAMED.transform(rows, out=path))
    if hasattr(rows, "handles"):
        rows.close()


def test_nothing_is_written_into_a_folder_that_is_read(tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    for name in ("a", "b"):
        FRAME.write_parquet(parts / f"{name}.parquet")
    for given in (parts, mercer.scan(parts)):
        refused(tmp_path, lambda given=given: NAMED.transform(given, out=parts / "b.parquet"))
        refused(tmp_path, lambda given=given: NAMED.transform(given, out=parts / "new.parquet"))
    NAMED.transform(parts, out=parts / "other.csv")  # which is not read
    os.link(parts / "b.parquet", tmp_path / "link.csv")
    pattern = parts / "*.parquet"
    for given in (parts, mercer.scan(parts), pattern, pl.scan_parquet(pattern)):
        refused(tmp_path, lambda given=given: NAMED.transform(given, out=tmp_path / "link.csv"))
    refused(tmp_path, lambda: NAMED.transform(pattern, out=parts / "a.parquet"))
    NAMED.transform(pattern, out=parts / "z.csv")
    zarr = written(tmp_path, "zarr")
    inside = next(path for path in zarr.rglob("*") if path.is_file())
    (tmp_path / "z.csv").symlink_to(inside)
    refused(tmp_path, lambda: MODEL.transform(zarr, out=tmp_path / "z.csv"))
    os.link(inside, tmp_path / "y.csv")
    for out in (tmp_path / "y.csv", zarr / "z.csv"):
        refused(tmp_path, lambda out=out: MODEL.transform(zarr, out=out))
        refused(tmp_path, lambda out=out: MODEL.transform(mercer.scan(zarr), out=out))


def test_files_beside_the_one_that_is_named_count(tmp_path):
    (tmp_path / "g.bed").write_bytes(b"\x6c\x1b\x01" + bytes(range(15)))
    (tmp_path / "g.bim").write_text("".join(f"1 s{i} 0 {i} A G\n" for i in range(3)))
    (tmp_path / "g.fam").write_text("".join(f"f p{i} 0 0 1 2\n" for i in range(20)))
    model = mercer.PCA(2, missing="em").fit(tmp_path / "g.bed")
    for end in ("bim", "fam"):
        out = tmp_path / f"{end}.csv"
        os.link(tmp_path / f"g.{end}", out)
        refused(tmp_path, lambda out=out: model.transform(tmp_path / "g.bed", out=out))


def test_other_files_are_written_as_before(tmp_path):
    path = written(tmp_path, "npy")
    np.save(tmp_path / "copy.npy", X)  # the same bytes are another file
    held = np.load(path, mmap_mode="r")
    NAMED.transform(FRAME, out=tmp_path / "copy.npy")
    before = np.load(tmp_path / "copy.npy", mmap_mode="r")
    assert np.array_equal(before, NAMED.transform(FRAME))
    MODEL.transform(held, out=tmp_path / "copy.npy")  # mapped, and not what is read
    refused(tmp_path, lambda: MODEL.transform(iter([X]), out=path))  # open: nobody can know
    del held
    MODEL.transform(iter([X]), out=path)
    assert np.array_equal(np.load(path), MODEL.transform(X))
    (tmp_path / "d[1].csv").write_bytes(FRAME.write_csv().encode())
    (tmp_path / "d1.csv").write_text("old")
    NAMED.transform(tmp_path / "d[1].csv", out=tmp_path / "d1.csv")
    mercer.save(MODEL, tmp_path / "m.mercer")
    mercer.save(mercer.load(tmp_path / "m.mercer"), tmp_path / "m.mercer")
    kept = tmp_path / "fit.mercer"
    mercer.PCA(2).fit(path, checkpoint=kept)
    mercer.PCA(2).fit(path, checkpoint=kept)


def test_pages_graphs_and_checkpoints_spare_the_rows(tmp_path):
    path = written(tmp_path, "csv")
    page = report(NAMED, path)
    for way in ("symbolic link", "hard link"):
        folder = tmp_path / way
        folder.mkdir()
        own = written(folder, "csv")
        (folder / "x.html").unlink(missing_ok=True)
        link = folder / "x.html"
        link.symlink_to(own) if way == "symbolic link" else os.link(own, link)
        made = report(NAMED, own)
        refused(folder, lambda made=made, link=link: made.save(link))
    (tmp_path / "y.html").symlink_to(path)
    with pytest.raises(InputError, match="table would be lost"):
        report(NAMED).save(tmp_path / "y.html")
    page.save(tmp_path / "page.html")
    page.save(tmp_path / "page.html")
    refused(tmp_path, lambda: mercer.PCA(2).fit(path, checkpoint=path))
    pytest.importorskip("onnx")
    for name in ("y.html", "d.csv"):
        before = state(tmp_path)
        with pytest.raises(InputError, match="table would be lost"):
            mercer.export_onnx(NAMED, tmp_path / name)
        assert state(tmp_path) == before


TYPED = [  # words, what stdin comes from, what stdout goes to
    ("transform m.mercer - -o d.csv --force", "d.csv", None),
    ("transform m.mercer - -o z.csv --force", "d.csv", None),
    ("transform m.mercer d.csv -o z.csv --force", None, None),
    ("transform m.mercer d.csv", None, "d.csv"),
    ("transform m.mercer -", "d.csv", "z.csv"),
    ("inverse m.mercer d.csv", None, "z.csv"),
    ("look d.csv", None, "z.csv"),
    ("inspect m.mercer", None, "m.mercer"),
    ("transform m.mercer parts/a.parquet", None, "m.mercer"),
    ("drift m.mercer parts/a.parquet --reference d.csv", None, "z.csv"),
    ("fit parts -o n.mercer --scores parts/b.parquet --force", None, None),
    ("fit parts/*.parquet --scores parts/b.parquet --force", None, None),
    ("fit parts --columns-out parts/c.parquet", None, None),
    ("fit d.csv --checkpoint d.csv", None, None),
    ("fit d.csv --checkpoint z.csv", None, None),
    ("report d.csv -o x.html --force", None, None),
    ("report m.mercer - -o x.html --force", "d.csv", None),
]


@pytest.mark.parametrize(("words", "stdin", "stdout"), TYPED)
def test_the_command_line_spares_what_it_reads(
    tmp_path, monkeypatch, capsys, words, stdin, stdout
):
    from mercer.cli.app import main

    path = written(tmp_path, "csv")
    for name in ("z.csv", "x.html"):
        os.link(path, tmp_path / name)
    mercer.save(NAMED, tmp_path / "m.mercer")
    (tmp_path / "parts").mkdir()
    for name in ("a", "b"):
        FRAME.write_parquet(tmp_path / "parts" / f"{name}.parquet")
    before = state(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["mercer", *words.split()])
    with contextlib.ExitStack() as files:
        for name, given, mode in (("stdin", stdin, "r"), ("stdout", stdout, "a")):
            if given is not None:
                opened = files.enter_context((tmp_path / given).open(mode, encoding="utf-8"))
                monkeypatch.setattr(sys, name, opened)
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code
    assert PLACE in capsys.readouterr().err
    assert state(tmp_path) == before
