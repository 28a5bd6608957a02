"""Files that cannot be used, and tables to use wrongly: all that the refusals are tried on."""

import gzip
import io
import os
import zipfile

import h5py
import numpy as np
import polars as pl

import mercer
from mercer.store import read, write

rng = np.random.default_rng(5)


def table(rows=40):
    """A good table: names, groups, days, three numbers, counts, and numbers below zero."""
    X = rng.normal(size=(rows, 3)).round(3) + np.arange(rows)[:, None] * [0.3, 0.2, 0.0]
    head = "name,group,day,a,b,c,count,owed"
    lines = [
        f"n{i},{'xy'[i % 2]},2024-01-{i % 28 + 1:02d},{a:.3f},{b:.3f},{c:.3f},{i % 3},{i - 20}"
        for i, (a, b, c) in enumerate(X)
    ]
    return "\n".join([head, *lines]) + "\n"


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def bomb():
    """A packed array that announces a terabyte."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        head, {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**5)}
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", head.getvalue() + bytes(10_000))
    return file.getvalue()


def workbook():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return file.getvalue()


def parquet():
    file = io.BytesIO()
    pl.DataFrame({"a": [1.0, 2.0, 3.5], "b": [2.0, 1.0, 7.0]}).write_parquet(file)
    return file.getvalue()


TEXTS = {
    "good.csv": table(),
    "other.csv": "x,y\n1,2\n3,5\n4,4\n",
    "blank.csv": "\n\n\n",
    "header.csv": "a,b,c\n",
    "ragged.csv": "a,b\n1,2\n3,4,5\n6,7\n",
    "short.csv": "a,b\n1,2\n3\n6,7\n",
    "unnamed.csv": "a,\n1,2\n3,4\n",
    "twice.csv": "a,b,a\n1,2,3\n4,5,7\n",
    "two_headers.csv": "a,b\n" + "1,2\n3,4\n5,1\n" * 6 + "a,b\n" + "5,6\n8,7\n" * 6,
    "half_header.csv": "a,1,2\n3,4,5\n6,7,9\n8,8,8\n",
    "all_text.csv": "a,b\n" + "one,two\nthree,four\nfive,six\n" * 3,
    "one_row.csv": "a,b\n1,2\n",
    "constant.csv": "a,b\n1,2\n1,2\n1,2\n",
    "all_missing.csv": "a,b\n,\n,\n,\n",
    "gappy.csv": "a,b,c\n1,,2\n,2,3\n3,4,5\n4,1,7\n,6,6\n",
    "inf.csv": "a,b\n1,2\n3,inf\n5,6\n",
    "comma.csv": "a;b\n" + "1,5;2,5\n3,5;4,25\n7,5;1,0\n2,5;2,5\n" * 4,
    "quote.csv": 'a,b\n"1,2\n3,4\n',
    "page.csv": "<!DOCTYPE html>\n<html><body>Not found</body></html>\n",
    "fake.parquet": "a,b\n1,2\n",
    "fake.npy": "a,b\n1,2\n",
    "fake.h5": "a,b\n1,2\n",
    "fake.csv.gz": "a,b\n1,2\n",
    "broken.ndjson": '{"a": 1, "b": 2}\n{"a": 3, "b"\n',
    "list.ndjson": "[1, 2]\n[3, 4]\n",
    "key.ndjson": '{"a": 1, "b": 2}\n{"a": 3}\n{"a": 4, "c": 5}\n',
    "table.json": '[{"a": 1}]',
    "notes.docx": "x",
    "not_a_model.mercer": "a,b\n1,2\n",
    "counts.csv": "town,a,b,c\nN,3,4,5\nS,6,1,2\nW,2,2,9\n",
    "empty_counts.csv": "town,a,b\nN,3,4\nS,0,0\n",
    "long.csv": "who,what,n\nx,u,3\ny,v,-2\nx,v,1\nx,u,x\n" + "y,u,1\n" * 4,
    "words.csv": "sex,eye,age\n" + "m,blue,31.5\nf,grey,20.5\nf,blue,45\n" * 3,
    "new_words.csv": "sex,eye\n" + "m,blue\nf,pink\nf,grey\n" * 3,
}
BYTES = {
    "empty.csv": lambda: b"",
    "binary.csv": lambda: bytes(range(256)) * 4,
    "nul.csv": lambda: b"a,b\n1,2\n3,\x004\n5,6\n",
    "latin.csv": lambda: "größe,b\n1,2\n3,4\n".encode("latin-1"),
    "utf16.csv": lambda: "a,b\n1,2\n3,4\n".encode("utf-16-le"),
    "data.pkl": lambda: b"\x80\x04N.",
    "sheet.xlsx": workbook,
    "sheet.csv": workbook,
    "cut.parquet": lambda: parquet()[:-20],
    "damaged.csv.gz": lambda: _flipped(gzip.compress(table().encode(), mtime=0)),
    "cut.csv.gz": lambda: gzip.compress(table().encode(), mtime=0)[:200],
    "objects.npy": lambda: npy(np.array([["a", 1]], object), allow_pickle=True),
    "cube.npy": lambda: npy(np.zeros((2, 3, 4))),
    "complex.npy": lambda: npy(np.zeros((4, 3), complex)),
    "cut.npy": lambda: npy(np.zeros((40, 3)))[:300],
    "bomb.npz": bomb,
    "pickle.mercer": lambda: b"\x80\x04\x95\x10\x00",
    "empty.mercer": lambda: b"",
}


def _flipped(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]


def write_all(folder):
    """Write every file into a folder."""
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name, made in BYTES.items():
        (folder / name).write_bytes(made())
    (folder / "folder").mkdir()
    (folder / "empty.zarr").mkdir()
    (folder / "gone.csv").symlink_to("nowhere.csv")
    os.mkfifo(folder / "pipe.csv")
    with h5py.File(folder / "words.h5", "w") as file:
        file["words"] = ["a", "b"]
    _write_models(folder)


def _write_models(folder):
    frame = pl.read_csv(folder / "good.csv").select("a", "b", "c")
    good = folder / "good.mercer"
    mercer.save(mercer.PCA(2).fit(frame), good)
    mercer.save(mercer.PCA(2).fit(frame.to_numpy()), folder / "nameless.mercer")
    mercer.save(mercer.PCA(2), folder / "unfitted.mercer")
    words = pl.read_csv(folder / "words.csv").select("sex", "eye")
    mercer.save(mercer.MultipleCorrespondenceAnalysis(1).fit(words), folder / "mca.mercer")
    data = good.read_bytes()
    (folder / "damaged.mercer").write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    (folder / "cut.mercer").write_bytes(data[:-50])
    (folder / "newer.mercer").write_bytes(_newer(data))
    header, arrays = read(good)
    parts = {k: v for k, v in header.items() if k not in ("format", "version", "mercer")}
    write(folder / "checkpoint.mercer", parts | {"kind": "checkpoint"}, arrays)


def _newer(data):
    """Return the file as a later format would be written, its checksum made anew."""
    import hashlib

    from mercer.store._file_layout import NO_SHA, PREFIX, SHA_AT

    text = data.replace(b'\\"version\\":1,', b'\\"version\\":9,')
    assert text != data
    digest = hashlib.sha256(text[:SHA_AT] + NO_SHA + text[PREFIX:]).hexdigest()
    return text[:SHA_AT] + digest.encode() + text[PREFIX:]
