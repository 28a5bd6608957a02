"""The command ``mercer doctor``: what this machine has, for a report of a fault."""

import os
import platform
import sys
from dataclasses import asdict
from importlib import import_module, metadata
from typing import Any

import click

from mercer import __version__
from mercer.cli._options import speaking_options
from mercer.cli._voice import Voice, aligned

_NEEDED = (
    "numpy", "scipy", "scikit-learn", "polars", "narwhals", "array-api-compat", "threadpoolctl",
    "click", "rich", "jinja2",
)  # fmt: skip
# Libraries that are not always there: how they are imported, what installs them, what for.
_EXTRAS = {
    "pyarrow": ("pip install pyarrow", "writes Parquet, reads Arrow streams"),
    "h5py": ("pip install 'mercer[hdf5]'", "reads HDF5 and AnnData"),
    "zarr": ("pip install 'mercer[zarr]'", "reads Zarr"),
    "matplotlib": ("pip install 'mercer[plot]'", "draws figures"),
    "onnx": ("pip install 'mercer[onnx]'", "exports models"),
    "dask": ("pip install 'mercer[dask]'", "fits rows on several machines"),
    "numba": ("pip install 'mercer[compiled]'", "halves the time of sparse and missing cells"),
    "torch": ("pip install 'mercer[torch]'", "networks and autoencoders"),
    "pandas": ("pip install pandas", "frames of pandas"),
    "duckdb": ("pip install duckdb", "relations of duckdb"),
}


@click.command()
@click.option(
    "--measure",
    is_flag=True,
    help="Measure what this machine does per second, and keep it for your plans.",
)
@speaking_options
def command(voice: Voice, measure: bool) -> None:
    r"""Show versions, BLAS, threads, memory, GPUs, and which extra libraries work.

    Add what it says to a report of a fault: it holds no paths and no data.

    \b
    Examples:
      mercer doctor
      mercer doctor --json > doctor.json
      mercer doctor --measure
    """
    if measure:
        _measure()
    found = examined()
    voice.result(text_of(found), found)


def _measure() -> None:
    """Measure this machine with one thread and with all, and keep both."""
    from mercer.arrays import rates, thread_count
    from mercer.store import keep_rates

    keep_rates([rates(count) for count in sorted({1, thread_count()})])


def examined() -> dict[str, Any]:
    """Return what was found, as plain values; each library is imported to see that it works."""
    from mercer.arrays import available_bytes, thread_count
    from mercer.store import kept_rates

    kept = kept_rates(thread_count())
    extras = {name: _extra(name) for name in _EXTRAS}
    return {
        "mercer": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "versions": {name: _version(name) for name in _NEEDED},
        "blas": _blas(),
        "threads": thread_count(),
        "processors": os.cpu_count(),
        "memory_free": available_bytes(),
        "rates": None if kept is None else asdict(kept),
        "gpus": _gpus(),
        "extras": extras,
    }


def text_of(found: dict[str, Any]) -> str:
    """Return the same for people."""
    from mercer.arrays import show_bytes

    rows = [
        ("mercer", found["mercer"]),
        ("python", found["python"]),
        ("system", found["system"]),
    ]
    rows += [(name, version or "not found") for name, version in found["versions"].items()]
    for pool in found["blas"]:
        named = " ".join(str(pool[part]) for part in ("library", "version") if pool[part])
        rows.append(("blas", f"{named}, {pool['threads']} threads"))
    rows.append(("threads", f"{found['threads']} of {found['processors']} processors"))
    rows.append(("memory free", show_bytes(found["memory_free"])))
    rows += _rate_rows(found["rates"])
    rows += [("gpu", f"{gpu['name']}, {show_bytes(gpu['memory'])}") for gpu in found["gpus"]]
    extras = [
        (name, "works" if part["works"] else "-", part["version"] or "", _advice(name, part))
        for name, part in found["extras"].items()
    ]
    return "\n".join([*aligned(rows, words=2), "", *aligned(extras, words=3)])


def _rate_rows(rates: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Return what one thread does per second, where it has been measured."""
    if rates is None:
        return [("rates", "default ones; mercer doctor --measure measures this machine")]
    (_, gram), (_, thin) = rates["symmetric"], rates["thin"]
    said = f"{gram / 1e9:.3g} and {thin / 1e9:.3g} Gflop/s of Gram matrices and thin products"
    return [("rates", f"measured, a thread: {said}, {rates['stream'] / 1e9:.3g} GB/s read")]


def _advice(name: str, part: dict[str, Any]) -> str:
    install, use = _EXTRAS[name]
    if part["works"]:
        return use
    return f"{use}: {part['error'] if part['version'] else install}"


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _extra(name: str) -> dict[str, Any]:
    """Return whether a library can be imported, its version, and what it says where not."""
    error = None
    try:
        import_module(name)
    except Exception as failure:  # a broken library may raise anything
        error = f"{type(failure).__name__}: {' '.join(str(failure).split())[:200]}"
    version = _version(name)
    return {"works": error is None, "version": version, "error": error}


def _blas() -> list[dict[str, Any]]:
    import scipy.linalg  # noqa: F401 - BLAS libraries are seen once they are loaded
    from threadpoolctl import threadpool_info

    pools = [
        {
            "library": pool.get("internal_api"),
            "version": pool.get("version"),
            "architecture": pool.get("architecture"),
            "threads": pool.get("num_threads"),
            "used_by": pool.get("prefix"),
        }
        for pool in threadpool_info()
    ]
    kept: list[dict[str, Any]] = []
    for pool in pools:
        kept += [] if pool in kept else [pool]
    return kept


def _gpus() -> list[dict[str, Any]]:
    """Return what torch sees, where it is there."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return []
    devices = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
    return [{"name": device.name, "memory": device.total_memory} for device in devices]
