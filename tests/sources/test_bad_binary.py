"""Binary files that lie or are damaged: each is refused in three lines that name the file.

One table: the kind of file, what is wrong, how to make it, and words the message must have.
"""

import io
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
import scipy.sparse

from mercer.errors import InputError
from mercer.sources import scan

X = np.arange(60.0).reshape(20, 3)
SPARSE = scipy.sparse.csr_array(X)
NOTHING = dict.fromkeys(["indices", "indptr", "data", "format", "shape"])
UNWRITTEN = {"shape": (10**9, 1000), "dtype": "f8", "chunks": (100, 100)}


def npy_bytes(array=X, head=None, version=(1, 0)):
    """Return a .npy file, with another header where `head` is given."""
    if head is None:
        buffer = io.BytesIO()
        np.save(buffer, array)
        return buffer.getvalue()
    text = head.encode("latin-1") + b"\n"
    size = struct.pack("<H", len(text)) if version == (1, 0) else struct.pack("<I", len(text))
    return b"\x93NUMPY" + bytes(version) + size + text + array.tobytes()


def claim(shape="(20, 3)", descr="'<f8'", order="False"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


def npy(*args, **kwargs):
    return lambda path: path.write_bytes(npy_bytes(*args, **kwargs))


def raw(content):
    return lambda path: path.write_bytes(content)


def npz(**changed):
    """Write a CSR matrix with some members replaced: arrays, bytes, or None to leave out."""
    fields = {"indices": SPARSE.indices, "indptr": SPARSE.indptr, "data": SPARSE.data}
    fields |= {"format": np.array(b"csr"), "shape": np.array([20, 3])} | changed

    def write(path):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for name, value in fields.items():
                if value is not None:
                    content = value if isinstance(value, bytes) else npy_bytes(value)
                    file.writestr(f"{name}.npy", content)

    return write


def edited(array, at, value):
    array = np.array(array)
    array[at] = value
    return array


def bomb(path):
    """A member of 200 MB of zeros in 200 kB."""
    head = npy_bytes(np.empty(0), claim("(25000000,)"))
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file,
        file.open("data.npy", "w") as out,
    ):
        out.write(head)
        for _ in range(200):
            out.write(bytes(1_000_000))
    with zipfile.ZipFile(path, "a") as file:
        for name in ("indices", "indptr"):
            file.writestr(f"{name}.npy", npy_bytes(getattr(SPARSE, name)))
        file.writestr("format.npy", npy_bytes(np.array(b"csr")))
        file.writestr("shape.npy", npy_bytes(np.array([20, 3])))


def overstated(path):
    """The directory claims 8 TB for a member of a few bytes."""
    np.savez_compressed(path, X=X)
    content = bytearray(path.read_bytes())
    at = content.index(b"PK\x01\x02")
    content[at + 24 : at + 28] = struct.pack("<I", 4_000_000_000)
    path.write_bytes(content)


def flipped(path):
    np.savez(path, X=X)
    content = bytearray(path.read_bytes())
    content[content.index(X[10].tobytes())] ^= 1
    path.write_bytes(content)


def hdf5(*datasets, **attributes):
    def write(path):
        h5py = pytest.importorskip("h5py")
        with h5py.File(path, "w") as file:
            for name, value in datasets:
                how = value if isinstance(value, dict) else {"data": value}
                file.create_dataset(name, **how)
            for name, value in attributes.items():
                file["X"].attrs[name.replace("_", "-")] = value

    return write


def cut(write, keep):
    def shorter(path):
        write(path)
        path.write_bytes(path.read_bytes()[:keep])

    return shorter


def h5ad(shape=(20, 3), **changed):
    parts = {"data": SPARSE.data, "indices": SPARSE.indices, "indptr": SPARSE.indptr} | changed
    names = [("var/_index", parts.pop("var", list("abc")))]
    sets = [(f"X/{name}", value) for name, value in parts.items() if value is not None]
    return hdf5(*sets, *names, encoding_type="csr_matrix", shape=shape)


def zarr(damage=None, version=3, array=X):
    def write(path):
        library = pytest.importorskip("zarr")
        found = library.create_array(
            path, shape=array.shape, dtype=array.dtype, chunks=array.shape, zarr_format=version
        )
        found[...] = array
        if damage is not None:
            damage(path / ("zarr.json" if version == 3 else ".zarray"))

    return write


def half(path):
    path.write_text(path.read_text()[:50])


def change(old, new):
    return lambda path: path.write_text(path.read_text().replace(old, new, 1))


def bed(content=b"\x6c\x1b\x01" + bytes(15), bim=3, fam=20, line="a b 0 0 1 2\n"):
    def write(path):
        path.write_bytes(content)
        for suffix, count in ((".bim", bim), (".fam", fam)):
            if count is not None:
                path.with_suffix(suffix).write_text(
                    "".join(line.replace("b", f"v{i}") for i in range(count))
                )

    return write


PAIRS = {"row": edited(np.zeros(SPARSE.nnz, int), 5, 20), "col": np.zeros(SPARSE.nnz, int)}
CASES = [
    (".npy", "8 TB", npy(X, claim("(1000000000000, 1)")), "shorter than its header"),
    (".npy", "overflow", npy(X, claim(f"({2**62}, {2**62})")), "shorter than its header"),
    (".npy", "negative", npy(X, claim("(-20, -3)")), "(-20, -3)"),
    (".npy", "no rows", npy(X[:0]), "at least one row"),
    (".npy", "1-D", npy(X[0]), "two dimensions, this has 1"),
    (".npy", "3-D", npy(X.reshape(5, 4, 3)), "two dimensions, this has 3"),
    (".npy", "objects", npy(np.array([[1, "a"]], object)), "can run code"),
    (".npy", "records", npy(np.zeros((2, 2), [("a", "f4")])), "records"),
    (".npy", "complex", npy(X + 1j), "complex"),
    (".npy", "dates", npy(np.zeros((2, 2), "M8[s]")), "dates"),
    (".npy", "text", npy(np.array([["a", "b"]])), "text"),
    (".npy", "cut off", raw(npy_bytes()[:-8]), "600 bytes"),
    (".npy", "cut in the header", raw(npy_bytes()[:40]), "header"),
    (".npy", "appended", raw(npy_bytes() + b"more"), "more than its header"),
    (".npy", "magic", raw(b"\x93NUMPZ" + npy_bytes()[6:]), "not in NumPy's"),
    (".npy", "empty", raw(b""), "not in NumPy's"),
    (".npy", "version", npy(X, claim(), (9, 0)), "(9, 0)"),
    (".npy", "no dictionary", npy(X, "[1, 2]"), "header of the .npy"),
    (".npy", "missing key", npy(X, "{'descr': '<f8', 'shape': (20, 3)}"), "header of the .npy"),
    (".npy", "a call", npy(X, claim("__import__('os').getpid()")), "header of the .npy"),
    (".npy", "deep", npy(X, "(" * 5000), "header of the .npy"),
    (".npy", "unfinished", npy(X, "{'descr': '''"), "header of the .npy"),
    (".npy", "no such type", npy(X, claim(descr="'<q9'")), "header of the .npy"),
    (".npy", "shape of floats", npy(X, claim("(20.0, 3)")), "header of the .npy"),
    (".npy", "long header", npy(X, "{" + " " * 50_000 + "}"), "header of the .npy"),
    (".npz", "no archive", raw(b"not a zip"), "archive cannot be read"),
    (".npz", "no array", npz(**NOTHING), "0 arrays"),
    (".npz", "bomb", bomb, "zip bomb"),
    (".npz", "claims 4 GB", overstated, "zip bomb"),
    (".npz", "flipped bit", flipped, "array 'X'"),
    (".npz", "pointers go back", npz(indptr=edited(SPARSE.indptr, 7, 1)), "at row 6"),
    (".npz", "pointers too far", npz(indptr=edited(SPARSE.indptr, -1, 99)), "to 99"),
    (".npz", "too few pointers", npz(indptr=SPARSE.indptr[:-1]), "for 20 rows"),
    (".npz", "pointers of floats", npz(indptr=SPARSE.indptr * 1.0), "float64"),
    (".npz", "column 3 of 3", npz(indices=edited(SPARSE.indices, 30, 3)), "row 10: position 3"),
    (".npz", "column -1", npz(indices=edited(SPARSE.indices, 0, -1)), "row 0: position -1"),
    (".npz", "lengths", npz(data=SPARSE.data[:-1]), "one length"),
    (".npz", "part missing", npz(indices=None), "no array 'indices'"),
    (".npz", "complex", npz(data=SPARSE.data * 1j), "complex"),
    (".npz", "objects", npz(data=np.array([None] * SPARSE.nnz)), "x.npz"),
    (".npz", "3-D", npz(shape=np.array([5, 4, 3])), "two dimensions"),
    (".npz", "negative", npz(shape=np.array([-20, 3])), "(-20, 3)"),
    (".npz", "order", npz(format=np.array(b"bsr")), "'bsr'"),
    (".npz", "order unknown", npz(format=np.array(3)), "'format'"),
    (".npz", "header larger", npz(data=npy_bytes(X, claim("(1000000000000,)"))), "as long as"),
    (".npz", "CSC beyond", npz(format=np.array(b"csc"), shape=np.array([2, 20])), "position"),
    (".npz", "COO beyond", npz(format=np.array(b"coo"), **PAIRS), "cell 5: position 20"),
    (".h5", "not HDF5", raw(b"plain text " * 50), "read as HDF5"),
    (".h5", "empty", raw(b""), "read as HDF5"),
    (".h5", "cut off", cut(hdf5(("X", X)), 2200), "read as HDF5"),
    (".h5", "1-D", hdf5(("X", X[0])), "'X' (3,)"),
    (".h5", "text", hdf5(("X", [["a", "b"]])), "0 tables"),
    (".h5", "complex", hdf5(("X", X + 1j)), "complex"),
    (".h5", "nothing", hdf5(), "no data set at all"),
    (".h5", "several", hdf5(("X", X), ("Y", X)), "'Y'"),
    (".h5", "8 TB unwritten", hdf5(("X", UNWRITTEN)), "never written"),
    (".h5", "no rows", hdf5(("X", X[:0])), "at least one row"),
    (".h5ad", "no X", hdf5(("Y", X)), "'Y'"),
    (".h5ad", "shape", h5ad(shape=(21, 3)), "for 21 rows"),
    (".h5ad", "names", h5ad(var=list("abcd")), "4 names"),
    (".h5ad", "column", h5ad(indices=edited(SPARSE.indices, 4, 7)), "row 1: position 7"),
    (".h5ad", "part missing", h5ad(indptr=None), "no data set 'indptr'"),
    (".h5ad", "lengths", h5ad(data=SPARSE.data[1:]), "one length"),
    (".h5ad", "encoding", hdf5(("X/data", X), encoding_type="dataframe"), "'dataframe'"),
    (".h5ad", "3-D", hdf5(("X", X.reshape(5, 4, 3))), "two dimensions"),
    (".zarr", "no metadata", lambda path: path.mkdir(), "opened as Zarr"),
    (".zarr", "cut off", zarr(half), "opened as Zarr"),
    (".zarr", "cut off, 2", zarr(half, 2), "opened as Zarr"),
    (".zarr", "type", zarr(change("float64", "float65")), "opened as Zarr"),
    (".zarr", "1-D", zarr(array=X[0]), "two dimensions"),
    (".zarr", "complex", zarr(array=X * 1j), "complex"),
    (".bed", "magic", bed(b"chr1 100 200"), "not 6c1b"),
    (".bed", "empty", bed(b""), "bytes none"),
    (".bed", "by samples", bed(b"\x6c\x1b\x00" + bytes(15)), "sample by sample"),
    (".bed", "short", bed(b"\x6c\x1b\x01" + bytes(14)), "need 18"),
    (".bed", "long", bed(b"\x6c\x1b\x01" + bytes(16)), "need 18"),
    (".bed", "no .bim", bed(bim=None), "no x.bim"),
    (".bed", "no .fam", bed(fam=None), "no x.fam"),
    (".bed", "empty .fam", bed(fam=0), "0 lines"),
    (".bed", "short line", bed(line="a b\n"), "line 1: 2 fields"),
]


@pytest.mark.parametrize(
    ("suffix", "write", "words"),
    [(suffix, write, words) for suffix, _, write, words in CASES],
    ids=[f"{suffix[1:]}-{wrong}" for suffix, wrong, _, _ in CASES],
)
def test_it_is_refused(tmp_path, suffix, write, words):
    path = tmp_path / f"x{suffix}"
    write(path)
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as caught:
            for _ in scan(path).blocks(5):
                pass
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    lines = str(caught.value).splitlines()
    assert len(lines) == 3
    assert "x." in lines[1]
    assert words in str(caught.value)
    assert most < 50e6  # refused before what it claims is allocated
