"""The rivals: each fits k components and returns eigenvalues and components.

Every library is imported when it is first used. A rival that cannot or should not run on a
case says why, and the reason goes into the result file.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.cases import Case

SKLEARN_SOLVERS = ("full", "covariance_eigh", "arpack", "randomized", "auto")


@dataclass(frozen=True)
class Fit:
    """What a rival hands back: variances (k,) dividing by n - 1, components (k, p), facts."""

    values: NDArray[Any]
    components: NDArray[Any]
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Rival:
    """A named way to fit PCA.

    Parameters
    ----------
    name : str
    package : str
        Distribution whose version is recorded.
    module : str
        Module that must be importable.
    fit : callable (x, k) -> Fit
    refuse : callable (case) -> str or None
        Reason not to run on a case; None to run.
    """

    name: str
    package: str
    module: str
    fit: Callable[[Any, int], Fit]
    refuse: Callable[[Case], str | None] = lambda _: None

    def missing(self) -> str | None:
        """Reason why the library cannot be used here, or None."""
        if importlib.util.find_spec(self.module) is None:
            return f"{self.package} is not installed"
        return None

    def version(self) -> str | None:
        """Installed version of the library."""
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return None

    def why_not(self, case: Case) -> str | None:
        """Reason not to run on this case, or None."""
        return self.missing() or self.refuse(case)


def _sklearn(solver: str, **options: Any) -> Callable[[Any, int], Fit]:
    def fit(x: Any, k: int) -> Fit:
        from sklearn.decomposition import PCA

        model = PCA(k, svd_solver=solver, random_state=0, **options).fit(x)
        facts = {"solver": model._fit_svd_solver}
        return Fit(model.explained_variance_, model.components_, facts)

    return fit


def _refuse_sklearn(solver: str) -> Callable[[Case], str | None]:
    def refuse(case: Case) -> str | None:
        n, p, k = case.rows, case.columns, case.components
        smaller = min(n, p)
        if case.group == "sparse" and solver in ("full", "randomized", "tuned"):
            return f"scikit-learn's {solver} takes no sparse matrix"
        if solver == "arpack" and k >= smaller:
            return "arpack needs k < min(n, p)"
        if solver == "covariance_eigh" and case.group == "sparse" and n > 1_000_000:
            return f"hopeless: one sparse product of {n} x {p} with itself on one thread"
        if solver == "covariance_eigh" and p > 5_000:
            return f"hopeless: a {p} x {p} covariance with all its eigenvectors"
        if solver == "full" and n * p * smaller > 5e10:
            return f"hopeless: LAPACK SVD of {n} x {p}"
        if solver == "tuned" and smaller <= 200:
            return "hopeless: covariance_eigh is many times faster with so few columns"
        return None

    return refuse


def _tuned(x: Any, k: int) -> Fit:
    """Randomized SVD with enough power iterations to be right on a slow spectrum.

    Not a default: iterated_power=20 and max(10, k) extra vectors are an expert's setting.
    """
    fit = _sklearn("randomized", iterated_power=20, n_oversamples=max(10, k))
    return fit(x, k)


def _intelex(x: Any, k: int) -> Fit:
    from sklearnex.decomposition import PCA

    model = PCA(k, svd_solver="covariance_eigh").fit(x)
    return Fit(model.explained_variance_, model.components_)


def _refuse_intelex(case: Case) -> str | None:
    if case.group == "sparse":
        return "scikit-learn-intelex's PCA hands sparse matrices back to scikit-learn"
    if case.columns > 3_000:
        return "hopeless: all eigenvectors of the covariance, as in scikit-learn's but slower"
    return None


def _fbpca(x: Any, k: int) -> Fit:
    import fbpca

    # fbpca draws from NumPy's global generator.
    np.random.seed(0)  # noqa: NPY002
    _, s, components = fbpca.pca(x, k=k, raw=False)
    return Fit(s.astype(np.float64) ** 2 / (x.shape[0] - 1), components)


def _torch(x: Any, k: int) -> Fit:
    import torch

    torch.manual_seed(0)
    _, s, v = torch.pca_lowrank(torch.from_numpy(x), q=k)
    return Fit(s.double().numpy() ** 2 / (x.shape[0] - 1), v.T.numpy())


def _faiss(x: Any, k: int) -> Fit:
    import faiss

    n, p = x.shape
    model = faiss.PCAMatrix(p, k)
    # The default trains on a sample of 1000 rows per column.
    model.max_points_per_d = n
    model.train(x)
    values = faiss.vector_to_array(model.eigenvalues)[:k] / (n - 1)
    components = faiss.vector_to_array(model.PCAMat).reshape(-1, p)[:k]
    return Fit(values, components)


def _refuse_faiss(case: Case) -> str | None:
    if case.group == "sparse":
        return "faiss takes no sparse matrix"
    if case.dtype != "float32":
        return "faiss takes float32 only"
    if min(case.rows, case.columns) > 1_000:
        return "hopeless: all eigenvectors of the Gram matrix by a single-threaded LAPACK"
    return None


def _refuse_sparse(case: Case) -> str | None:
    return "takes no sparse matrix" if case.group == "sparse" else None


class _Paths(logging.Handler):
    """Collects the names of the paths that a fit fell back to, from the log."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the last word of "PATH: REASON; next: PATH"."""
        text = record.getMessage()
        if "; next: " in text:
            self.names.append(text.rsplit(" ", 1)[1])


def _mercer(x: Any, k: int) -> Fit:
    import mercer

    log, paths = logging.getLogger("mercer"), _Paths()
    level = log.level
    log.addHandler(paths)
    log.setLevel(logging.INFO)
    try:
        model = mercer.PCA(k).fit(x)
    finally:
        log.removeHandler(paths)
        log.setLevel(level)
    chosen = model.plan_.chosen
    facts: dict[str, Any] = {
        "solver": ([chosen.name, *paths.names])[-1],
        "chosen": chosen.name,
        "planned_bytes": chosen.bytes,
        "planned_seconds": chosen.seconds,
        "note": chosen.note,
        "reached": float(model.certificate_.reached),
        # Columns of the basis at most; the memory limit of a Krylov fit counts them.
        "basis": getattr(chosen.solver, "max_basis", None),
    }
    return Fit(model.explained_variance_, model.components_, facts)


def _all() -> dict[str, Rival]:
    rivals = [Rival("mercer", "mercer", "mercer", _mercer)]
    for solver in SKLEARN_SOLVERS:
        rivals.append(
            Rival(
                f"sklearn-{solver}",
                "scikit-learn",
                "sklearn",
                _sklearn(solver),
                _refuse_sklearn(solver),
            )
        )
    rivals += [
        Rival("sklearn-tuned", "scikit-learn", "sklearn", _tuned, _refuse_sklearn("tuned")),
        Rival("intelex", "scikit-learn-intelex", "sklearnex", _intelex, _refuse_intelex),
        Rival("fbpca", "fbpca", "fbpca", _fbpca),
        Rival("torch", "torch", "torch", _torch, _refuse_sparse),
        Rival("faiss", "faiss-cpu", "faiss", _faiss, _refuse_faiss),
    ]
    return {rival.name: rival for rival in rivals}


RIVALS = _all()


def warm(rival: Rival, dtype: str, *, is_sparse: bool) -> None:
    """Fit a tiny matrix, so that imports and thread pools are paid for before the clock."""
    rng = np.random.default_rng(0)
    tiny: Any = rng.standard_normal((200, 20)).astype(dtype)
    if is_sparse:
        tiny[tiny < 1] = 0
        tiny = sparse.csr_matrix(tiny)
    rival.fit(tiny, 2)
