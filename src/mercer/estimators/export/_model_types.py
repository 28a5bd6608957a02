"""Every type that a model file may hold, by its name: nothing else is written or made."""

import types
from functools import cached_property
from typing import Any

import numpy as np

from mercer import selection
from mercer.diagnostics import WilksTests
from mercer.errors import InputError
from mercer.estimators.categories._adjusted_inertias import Joint
from mercer.estimators.categories._category_codes import Variable
from mercer.estimators.counts._count_facts import TableFacts
from mercer.estimators.counts._independence import Independence
from mercer.estimators.groups.discriminant import LinearDiscriminantAnalysis
from mercer.estimators.kernel._explicit_features import Widened, _Engine
from mercer.estimators.kernel._kernel_rows import KernelRows
from mercer.estimators.kernel._landmark_model import LandmarkChoice, LandmarkModel
from mercer.estimators.kernel._new_rows import Compressed
from mercer.estimators.kernel._preimages import Decoder, Radial
from mercer.estimators.kernel._projection import Projection
from mercer.estimators.kernel._row_stream import Stream
from mercer.estimators.kernel._way_back import Learned
from mercer.estimators.kernel.kernel_pca import KernelPCA
from mercer.estimators.linear._batches import Batches
from mercer.estimators.manifold._distance_kernel import Placing
from mercer.estimators.manifold._graph_estimator import Piece
from mercer.estimators.manifold._row_graph import GraphFacts
from mercer.estimators.manifold._transition_rows import GraphRows
from mercer.estimators.manifold._unfolding_facts import Flatness, UnfoldingCertificate
from mercer.estimators.mixed._mixed_axes import Filling, MixedAxes
from mercer.estimators.mixed._mixed_frame import MixedFrame
from mercer.estimators.walk._parameters import learned
from mercer.kernels import FEATURES, KERNELS, MAPS
from mercer.operators import (
    Centring,
    Completion,
    Graph,
    Landmarks,
    LandmarkSums,
    Moments,
    Neighbours,
    Pieces,
    ResidualSample,
    RunningMoments,
    RunningSvd,
    Searcher,
    Weighing,
)
from mercer.planning import GraphCost, KernelCost, Machine, Path, Plan, Problem, Workers
from mercer.solvers import BlockKrylov, Certificate, Exact, Stored
from mercer.store import Form

_PLAIN: tuple[type, ...] = (
    *KERNELS,
    *FEATURES,
    *MAPS,
    Batches,
    BlockKrylov,
    Centring,
    Certificate,
    Completion,
    Compressed,
    Decoder,
    Exact,
    Filling,
    Joint,
    Independence,
    Flatness,
    Graph,
    GraphCost,
    GraphFacts,
    GraphRows,
    KernelCost,
    KernelRows,
    LandmarkModel,
    Landmarks,
    Learned,
    Machine,
    MixedAxes,
    MixedFrame,
    Moments,
    Neighbours,
    Path,
    Piece,
    Pieces,
    Placing,
    Plan,
    Problem,
    Projection,
    Radial,
    Stored,
    Stream,
    Variable,
    TableFacts,
    UnfoldingCertificate,
    Weighing,
    Widened,
    WilksTests,
    Workers,
)
_BITS: dict[str, Any] = {
    name: getattr(np.random, name)
    for name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
}
# Not part of a model: who follows a fit, and what `load` says of the file.
_LEFT_OUT = {"_skl_callbacks", "written_by_"}


def of_estimator(kind: Any) -> Form:
    """Return the form of an estimator: its parameters, and what a fit has left in it."""

    def apart(model: Any) -> dict[str, Any]:
        found = {k: v for k, v in learned(model).items() if k not in _LEFT_OUT}
        return {"parameters": model.get_params(deep=False), "fitted": found}

    def together(parts: dict[str, Any]) -> Any:
        model = kind(**parts["parameters"])
        for name in parts["fitted"]:
            _refuse_attribute(kind, name)
        model.__dict__.update(parts["fitted"])
        return model

    names = frozenset({"parameters", "fitted"})
    return Form(kind, apart, together, names, names)


def _refuse_attribute(kind: type, name: str) -> None:
    """A fitted attribute begins or ends with one underscore, and hides no method."""
    inner = name.removeprefix("_").removesuffix("_")
    own = getattr(kind, name, None)
    if (
        inner == name
        or inner.startswith("_")
        or (hasattr(own, "__get__") and not isinstance(own, cached_property))
    ):
        raise InputError(
            f"{kind.__name__} cannot have the attribute {name[:40]!r}",
            got="a fitted attribute that no fit makes",
            fix="take the file that mercer.save wrote",
        )


def _form(kind: Any, names: str, together: Any = None, apart: Any = None) -> Form:
    """Return the form of a class that is no dataclass, by the names of its attributes.

    Those that end with ? may be missing in a file: the class has a default.
    """
    asked = names.split()
    known = tuple(name.rstrip("?") for name in asked)

    def parts_of(value: Any) -> dict[str, Any]:
        return {name: getattr(value, name) for name in known}

    def made_of(parts: dict[str, Any]) -> Any:
        made = object.__new__(kind)
        made.__dict__.update(parts)
        return made

    needed = frozenset(name for name in asked if not name.endswith("?"))
    return Form(kind, apart or parts_of, together or made_of, needed, frozenset(known))


def _map_parts(method: Any) -> dict[str, Any]:
    """Take a bound method φ of explicit features apart; no other method is data."""
    if method.__name__ != "phi" or not isinstance(method.__self__, FEATURES):
        raise InputError(
            "This cannot be written to a file: methods are code.",
            got=f"the method {method.__qualname__}",
            fix="use a kernel of mercer.kernels by its parameters",
        )
    return {"features": method.__self__}


def _map_of(parts: dict[str, Any]) -> Any:
    if not isinstance(parts["features"], FEATURES):
        raise TypeError("these are no features")
    return parts["features"].phi


def _generator(parts: dict[str, Any]) -> np.random.Generator:
    bits = _BITS[parts["state"]["bit_generator"]]()
    bits.state = parts["state"]
    return np.random.Generator(bits)


def _random_state(parts: dict[str, Any]) -> np.random.RandomState:
    made = np.random.RandomState(_BITS[parts["state"]["bit_generator"]]())
    made.set_state(parts["state"])
    return made


FORMS: dict[str, Form] = {
    **{kind.__name__.lstrip("_"): Form.of(kind) for kind in _PLAIN},
    "Choice": Form.of(LandmarkChoice),
    "ComponentChoice": Form.of(selection.Choice),
    "ComponentRule": Form.of(selection.Rule),
    "Engine": of_estimator(_Engine),
    "KernelPCA": of_estimator(KernelPCA),
    "LinearDiscriminantAnalysis": of_estimator(LinearDiscriminantAnalysis),
    "LandmarkSums": _form(
        LandmarkSums, "landmarks dtype count t raw_trace rows shift p q draws? seed? sample?"
    ),
    "ResidualSample": _form(
        ResidualSample, "size floor keys total count when number ratio rows"
    ),
    "RunningMoments": _form(
        RunningMoments,
        "whole rows total exponent raw_trace error anchor safe drift origin offset scatter"
        " vanished? errors? drifts?",
    ),
    "RunningSvd": _form(RunningSvd, "rank sums factor lost error"),
    "Searcher": _form(
        Searcher,
        "metric search threads rows origin exponent",
        Searcher.of_parts,
        lambda searcher: searcher.parts(),
    ),
    "FeaturesOf": _form(types.MethodType, "features", _map_of, _map_parts),
    "Generator": _form(
        np.random.Generator, "state", _generator, lambda g: {"state": g.bit_generator.state}
    ),
    "RandomState": _form(
        np.random.RandomState,
        "state",
        _random_state,
        lambda r: {"state": r.get_state(legacy=False)},
    ),
}
