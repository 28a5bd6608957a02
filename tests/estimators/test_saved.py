"""Models as files: every one comes back bit for bit, and nothing else is read."""

import dataclasses
import json
import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import saved_models as models
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from tests.claims import refuses

import mercer
from mercer import PCA, KernelPCA, store
from mercer.errors import InputError
from mercer.estimators.export._model_types import FORMS, _refuse_attribute
from mercer.kernels import (
    FEATURES,
    KERNELS,
    MAPS,
    RBF,
    FeatureMap,
    Function,
    Isotropic,
    Kernel,
    Linear,
    mapped,
    warp,
)
from mercer.operators import Landmarks, LandmarkSums, ResidualSample, RunningMoments, RunningSvd

STORED = Path(__file__).resolve().parents[1] / "data" / "models"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.mercer"


def there_and_back(model, path):
    mercer.save(model, path)
    return mercer.load(path)


@pytest.mark.parametrize("name", models.MAKE)
def test_every_model_comes_back_bit_for_bit(name, path):
    model = models.made(name)
    loaded = there_and_back(model, path)
    assert models.differences(model, loaded) == []
    if name in ("pca unfitted", "stream waiting"):
        refuses(None, loaded.transform, models.NEW, kind=NotFittedError)
        return
    new = models.new_rows(name)
    z = np.asarray(model.transform(new))
    assert np.asarray(loaded.transform(new)).tobytes() == z.tobytes()
    if "used" in name or name in ("landmarks", "primal", "kernel compressed", "dropin kernel"):
        back = model.inverse_transform(z)
        assert loaded.inverse_transform(z).tobytes() == back.tobytes()
    if "pca" in name and "sparse" not in name and "covariance" not in name:
        assert loaded.score(new) == model.score(new)
    if not name.startswith(("pca random", "pca gen")):  # their repr is an address
        assert repr(loaded) == repr(model)


def test_paths_and_callbacks_of_saved_models(path):
    paths = {
        models.made(name).plan_.chosen.name
        for name in ("pca", "pca wide", "kernel", "primal", "landmarks")
    }
    assert {"lapack", "primal", "landmarks"} <= paths
    model = models.made("pca")
    model._skl_callbacks = [print]
    assert not hasattr(there_and_back(model, path), "_skl_callbacks")


@pytest.mark.parametrize("name", ["stored", "tiles"])
def test_iterative_paths_come_back(name, path, monkeypatch):
    monkeypatch.setattr(KernelPCA, "_allowed", lambda _self: (name,))
    model = KernelPCA(2, kernel=RBF(2.0)).fit(models.X)
    assert model.plan_.chosen.name == name
    loaded = there_and_back(model, path)
    assert models.differences(model, loaded) == []
    assert loaded.transform(models.NEW).tobytes() == model.transform(models.NEW).tobytes()


PLAIN = [
    kind
    for kind in KERNELS
    if kind.__name__ not in ("FeatureMap", "Function", "Mapped", "Warped", "Precomputed")
]


def an_example(kind):
    if kind.__name__ == "Columns":
        return (RBF(2.0) + 0.5 * Linear()).on([0, 2])
    if "kernel" in kind.__dataclass_fields__:
        return kind(RBF(2.0) + Linear())
    return kind(RBF(2.0), Linear()) if "left" in kind.__dataclass_fields__ else kind()


@pytest.mark.parametrize("kind", PLAIN, ids=lambda kind: kind.__name__)
def test_every_kernel_comes_back_as_a_parameter(kind, path):
    kernel = an_example(kind)
    loaded = there_and_back(KernelPCA(2, kernel=kernel), path)
    assert loaded.kernel == kernel
    assert type(loaded.kernel) is type(kernel)
    rows = np.abs(models.X[:5]) + 1
    if kernel.resolved:
        assert loaded.kernel(rows).tobytes() == kernel(rows).tobytes()


def test_nested_kernels_and_absent_parameters(path):
    kernel = RBF((1.0, 2.0, 0.1 + 0.2, 4e300))
    for _ in range(60):
        kernel = 0.5 * kernel + 1e-3
    assert there_and_back(KernelPCA(kernel=kernel), path).kernel == kernel
    rewritten(path, lambda h: h["parameters"].update(items=[["n_components", 2]]))
    assert mercer.load(path).get_params() == PCA(2).get_params()


@pytest.mark.parametrize("settled", [False, True])
def test_a_stream_goes_on_where_it_was_saved(settled, path):
    options = {"kernel": RBF(9.0), "landmarks": models.X[::2]} if settled else {}
    model = models.streamed(memory="1GB", **options)
    loaded = there_and_back(model, path)
    model.partial_fit(models.NEW)
    loaded.partial_fit(models.NEW)
    assert models.differences(model, loaded) == []
    assert loaded.n_samples_ == 80
    if settled:
        other = models.streamed(memory="1GB", **options)
        assert models.differences(model.merge(other), loaded.merge(other)) == []


@pytest.mark.parametrize("name", ["pca stream", "pca stream looked at", "pca stream wide"])
def test_a_stream_of_batches_goes_on_where_it_was_saved(name, path):
    model, new = models.made(name), models.new_rows(name)
    loaded = there_and_back(model, path)
    z = model.partial_fit(new).transform(new)
    assert loaded.partial_fit(new).transform(new).tobytes() == z.tobytes()
    assert loaded.n_samples_ == model.n_samples_


def test_a_loaded_model_learns_and_is_fitted_as_before(path):
    model = KernelPCA(2).fit(models.X)
    loaded = there_and_back(model, path)
    z = model.transform(models.NEW)
    assert loaded.inverse_transform(z).tobytes() == model.inverse_transform(z).tobytes()
    assert loaded.preimage_errors_ == model.preimage_errors_
    assert loaded.score(models.NEW) == model.score(models.NEW)
    fresh = KernelPCA(2, tol_transform=0.1, memory="1GB").fit(models.X)
    loaded = there_and_back(fresh, path)
    assert models.differences(loaded.fit(models.X), fresh) == []
    assert not hasattr(loaded, "written_by_")


def test_output_as_frames_and_a_hundred_thousand_names_are_kept(path):
    model = PCA(2).set_output(transform="pandas").fit(models.FRAME)
    loaded = there_and_back(model, path)
    found = loaded.transform(models.NEW_FRAME)
    assert found.equals(model.transform(models.NEW_FRAME))
    assert list(loaded.feature_names_in_) == ["a", "ü", "", "d"]
    assert list(loaded.get_feature_names_out()) == ["pca0", "pca1"]
    model = PCA(1).fit(np.eye(2, 100_000))
    model.feature_names_in_ = np.array(
        [f"column {i}, the {i}th" for i in range(100_000)], object
    )
    loaded = there_and_back(model, path)
    assert loaded.feature_names_in_.tolist() == model.feature_names_in_.tolist()


def test_a_file_says_who_wrote_it_and_is_the_same_bytes_each_time(path, tmp_path):
    loaded = there_and_back(models.made("pca"), path)
    assert loaded.written_by_ == f"mercer {mercer.__version__}, format {store.VERSION}"
    assert not hasattr(there_and_back(PCA(2), path), "written_by_")
    again = there_and_back(loaded, path)
    assert models.differences(again, loaded) == []
    model = models.made("landmarks")
    mercer.save(model, path)
    mercer.save(mercer.load(path), tmp_path / "again.mercer")
    assert path.read_bytes() == (tmp_path / "again.mercer").read_bytes()
    model = KernelPCA(2, kernel=RBF(30.0)).fit(np.random.default_rng(0).normal(size=(500, 40)))
    mercer.save(model, path)
    assert path.stat().st_size < 1.2 * (500 * 40 + 2 * 500 * 2) * 8


class Mine(Isotropic):
    def of_distance(self, distance):
        return distance


class Sub(PCA):
    pass


REFUSED = {
    "function": (KernelPCA(kernel=lambda x, y: x @ y.T), "kernel: the function"),
    "kernel of a function": (KernelPCA(kernel=Function(np.dot)), "kernel/function: "),
    "pairs": (KernelPCA(kernel=Function.pairwise(np.dot)), "kernel/function: "),
    "feature map": (KernelPCA(kernel=FeatureMap(np.sin)), "kernel/phi: the function sin|ufunc"),
    "warp": (KernelPCA(kernel=warp(RBF(), len)), "kernel/g: the function len"),
    "map": (KernelPCA(kernel=2.0 * mapped(RBF(), abs)), "kernel/kernel/psi: the function abs"),
    "class of the user": (KernelPCA(kernel=Mine()), "Mine"),
    "subclass": (Sub(2), "Sub"),
    "pipeline": (make_pipeline(PCA(2)), "Pipeline"),
    "no model": (7, "builtins.int"),
    "class itself": (PCA, "PCA"),
    "frame": (PCA(feature_weight=models.FRAME), "feature_weight: a pandas"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_code_or_not_ours_is_refused_with_the_reason(case, path):
    model, words = REFUSED[case]
    refuses(words, mercer.save, model, path)
    assert not path.exists()


def rewritten(path, change):
    """Write a model file again with another description, its checksum right."""
    mercer.save(models.made("pca"), path)
    header, arrays = store.read(path)
    for name in ("format", "version", "mercer"):
        del header[name]
    change(header)
    store.write(path, header, arrays)


def fitted_item(header, name, value):
    header["fitted"]["items"] = [
        [key, value if key == name else old] for key, old in header["fitted"]["items"]
    ]


HOSTILE = {
    "a path of a class": lambda h: h.update({"class": "os.system"}),
    "a module": lambda h: h.update({"class": "mercer.estimators.PCA"}),
    "no class": lambda h: h.pop("class"),
    "a list for a class": lambda h: h.update({"class": ["PCA"]}),
    "more than we know": lambda h: h.update({"code": "1"}),
    "no parameters": lambda h: h.pop("parameters"),
    "another parameter": lambda h: h["parameters"]["items"].append(["magic", 1]),
    "a method": lambda h: h["fitted"]["items"].append(["transform", 1]),
    "a class attribute": lambda h: h["fitted"]["items"].append(["__class__", 1]),
    "a property": lambda h: h["fitted"]["items"].append(["_n_features_out", 1]),
    "not a name": lambda h: h["fitted"]["items"].append([7, 1]),
    "a number for a table": lambda h: h.update({"fitted": 7}),
    "an unknown type": lambda h: fitted_item(h, "rank_", {"=": "subprocess.Popen"}),
    "an array lost": lambda h: fitted_item(h, "mean_", None),
    "another checkpoint": lambda h: h.update({"kind": "checkpoint"}),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_file_that_no_save_wrote_is_refused(case, path):
    rewritten(path, HOSTILE[case])
    with pytest.raises(InputError) as caught:
        mercer.load(path)
    assert str(path) in caught.value.got


JUNK = (
    None, -1, 10**30, "x", [1, [2]], {}, {"=": "RBF", "lengthscale": -1}, {"=": "RBF"},
    {"=": "tuple", "items": [1]}, {"=": "array", "name": "mean_"},
    {"=": "type", "value": "float32"}, {"=": "FeaturesOf", "features": {"=": "One"}},
    {"=": "Generator", "state": {"=": "dict", "items": [["bit_generator", "PCG64"]]}},
    {"=": "Engine", "parameters": {"=": "dict", "items": []}, "fitted": 7},
)  # fmt: skip


def places(value):
    """List every place inside a description where something else could stand."""
    if not isinstance(value, dict | list):
        return []
    keys = value if isinstance(value, dict) else range(len(value))
    return [spot for key in keys for spot in ((value, key), *places(value[key]))]


@pytest.mark.parametrize("name", ["pca generator", "kernel compressed", "primal", "stream"])
def test_junk_in_a_description_is_refused_or_read_and_nothing_else_happens(name, path):
    rng = np.random.default_rng(7)
    mercer.save(models.made(name), path)
    header, arrays = store.read(path)
    whole = {key: header[key] for key in ("kind", "class", "parameters", "fitted")}
    refused = 0
    for _ in range(40):
        other = json.loads(json.dumps(whole))
        spots = places([other["parameters"], other["fitted"]])
        where, key = spots[rng.integers(2, len(spots))]
        where[key] = JUNK[rng.integers(len(JUNK))]
        store.write(path, other, arrays)
        try:
            mercer.load(path)
        except InputError:
            refused += 1
    assert refused > 20


def test_threads_save_and_load_one_name(path):
    several = [models.made(name) for name in ("pca", "kernel used", "stream", "dropin pca")]

    def turn(number):
        mercer.save(several[number % 4], path)
        found = mercer.load(path)
        return any(models.differences(model, found) == [] for model in several)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(turn, range(24)))
    assert os.listdir(path.parent) == [path.name]  # noqa: PTH208


def test_a_fresh_interpreter_reads_the_same_coordinates(path, tmp_path):
    model = models.made("dropin kernel")
    mercer.save(model, path)
    np.save(tmp_path / "new.npy", models.NEW)
    code = (
        "import sys, numpy, mercer; X = numpy.load(sys.argv[2]);"
        "print(mercer.load(sys.argv[1]).transform(X).tobytes().hex())"
    )
    command = [sys.executable, "-c", code, path, tmp_path / "new.npy"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == model.transform(models.NEW).tobytes().hex()


@pytest.mark.parametrize("name", ["pca", "kernel", "landmarks"])
def test_files_of_format_1_still_load(name):
    loaded = mercer.load(STORED / f"{name}_format_1.mercer")
    wanted = json.loads((STORED / "coordinates_format_1.json").read_text())[name]
    found = loaded.transform(np.array(wanted["rows"]))
    np.testing.assert_allclose(found, wanted["coordinates"], rtol=1e-9, atol=1e-12)
    assert loaded.written_by_.endswith("format 1")
    assert loaded.certificate_.met


@pytest.mark.parametrize("where", [5, None, b"a"], ids=str)
def test_what_is_no_path_is_refused_in_three_lines(where):
    for use in (lambda: mercer.save(PCA(2), where), lambda: mercer.load(where)):
        refuses("given by its path", use)


def test_absent_files_and_attributes_that_no_fit_makes(path):
    with pytest.raises(InputError, match="no such file") as caught:
        mercer.load(path)
    assert isinstance(caught.value, FileNotFoundError)
    assert str(path) in caught.value.got
    for name in ("transform", "__dict__", "x", "_n_features_out", "__x", "fit"):
        refuses("cannot have", _refuse_attribute, PCA, name)
    for name in ("mean_", "_centring", "n_features_in_", "_x_"):
        _refuse_attribute(PCA, name)


X = np.random.default_rng(0).normal(size=(5, 2))


def subclasses(kind):
    return {kind} | {s for sub in kind.__subclasses__() for s in subclasses(sub)}


def test_forms_are_plain_data_of_one_type_each():
    ours = {
        kind
        for kind in subclasses(Kernel)
        if kind.__module__.startswith("mercer.kernels.") and not kind.__abstractmethods__
    }
    assert ours == set(KERNELS)
    assert {form.kind for form in FORMS.values()} > {*KERNELS, *FEATURES, *MAPS}
    assert len({form.kind for form in FORMS.values()}) == len(FORMS)
    assert all(name.isidentifier() and not name.startswith("_") for name in FORMS)
    for name, form in FORMS.items():
        plain = dataclasses.is_dataclass(form.kind) and form.kind.__dataclass_params__.frozen
        models = ("KernelPCA", "LinearDiscriminantAnalysis")  # inside another model
        others = (*models, "Engine", "FeaturesOf", "Generator", "LandmarkSums", "Projection")
        sums = ("ResidualSample", "RunningMoments", "RunningSvd")
        assert plain or name in (*others, *sums, "RandomState", "Searcher"), name


@pytest.mark.parametrize(
    "made",
    [
        RunningMoments(),
        RunningSvd(3),
        LandmarkSums(Landmarks.of(RBF(1.0), X)),
        ResidualSample(9, 0.1, 2),
    ],
    ids=["moments", "directions", "landmarks", "rows drawn"],
)
def test_sums_are_taken_apart_to_the_last_attribute(made):
    """An attribute that is added to a class must be added to its form."""
    assert set(FORMS[type(made).__name__].apart(made)) == set(vars(made))


BITS = ["PCG64", "MT19937", "Philox", "SFC64", "PCG64DXSM"]


@pytest.mark.parametrize(
    ("name", "one"),
    [
        *(("Generator", np.random.Generator(getattr(np.random, bits)(3))) for bits in BITS),
        ("RandomState", np.random.RandomState(3)),
    ],
    ids=[*BITS, "RandomState"],
)
def test_generators_go_on_where_they_were(name, one):
    one.normal(size=3)  # of a pair of normals one is left
    two = FORMS[name].together(FORMS[name].apart(one))
    assert np.array_equal(one.normal(size=5), two.normal(size=5))
    assert np.array_equal(one.permutation(20), two.permutation(20))


def test_methods_other_than_feature_maps_are_refused():
    refuses("methods are code", FORMS["FeaturesOf"].apart, PCA().fit)
    refuses("no features", FORMS["FeaturesOf"].together, {"features": 7}, kind=TypeError)


@pytest.mark.parametrize("name", models.OTHERS)
def test_every_other_method_comes_back_bit_for_bit(name, path):
    made, rows, more = models.OTHERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(made).fit(rows, **more)
        loaded = there_and_back(model, path)
        new = rows[:9]
        z = np.asarray(model.transform(new))
        assert np.asarray(loaded.transform(new)).tobytes() == z.tobytes()
        for use in ("predict", "score_error", "impute", "is_outlier", "partial_coordinates"):
            if hasattr(model, use):
                found, wanted = (np.asarray(getattr(m, use)(new)) for m in (loaded, model))
                np.testing.assert_array_equal(found, wanted)
    # The index of a search is made again from its rows.
    apart = models.differences(model, loaded)
    assert [place for place in apart if "searcher.index" not in place] == []
    assert repr(loaded) == repr(model)
    assert str(loaded.plan_) == str(model.plan_)
