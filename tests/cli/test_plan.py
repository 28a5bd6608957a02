import json

import numpy as np
import pytest

import mercer
from mercer.cli._plan import components, run
from mercer.errors import InputError

PATHS = {"svd", "gram", "dual", "krylov"}


@pytest.fixture
def npy(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.random.default_rng(0).normal(size=(300, 20)))
    return path


def test_the_table_is_the_plan_of_the_library(npy):
    text = run(npy, "3", {}, as_json=False)
    assert text == str(mercer.plan(mercer.PCA(3), npy))


def test_json_holds_the_whole_plan(npy):
    document = json.loads(run(npy, "3", {"standardize": True}, as_json=True))
    assert document["schema"] == "mercer/1"
    assert document["ok"] is True
    data = {"path": str(npy), "rows": 300, "counted": True, "columns": 20, "left_out": []}
    assert document["data"] == data
    assert document["chosen"]["name"] in PATHS
    assert {"passes", "bytes", "flops", "seconds"} <= set(document["chosen"])
    names = {path["name"] for path in document["rejected"]} | {document["chosen"]["name"]}
    assert len(document["rejected"]) + 1 == len(names) > 1
    assert names <= PATHS
    assert all(path["reason"] for path in document["rejected"])


def test_text_columns_are_named_on_stderr(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("id,a,b\nx,1,2\ny,3,\nz,4,4\n", encoding="utf-8")
    document = json.loads(run(path, None, {}, as_json=True))
    first, second = capsys.readouterr().err.splitlines()
    assert first == "left out (not numbers): id"
    assert "forecast" in second
    assert document["data"]["left_out"] == ["id"]
    assert document["data"]["columns"] == 2


def test_a_table_without_names_keeps_its_first_row(tmp_path):
    path = tmp_path / "t.csv"
    np.savetxt(path, np.random.default_rng(0).normal(size=(40, 3)), delimiter=",")
    assert json.loads(run(path, None, {}, as_json=True))["data"]["rows"] == 40


def test_a_ragged_table_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 3"):
        run(path, None, {}, as_json=False)


@pytest.mark.parametrize(
    ("text", "value"), [("10", 10), ("0.9", 0.9), ("mle", "mle"), (None, None), ("-3", -3)]
)
def test_components_as_typed(text, value):
    got = components(text)
    assert got == value
    assert type(got) is type(value)


def test_nonsense_for_components_is_refused():
    with pytest.raises(InputError, match="-k ten"):
        components("ten")
