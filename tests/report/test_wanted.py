import numpy as np

import mercer
from mercer.report._page_request import PageRequest


def test_the_last_section_has_all_times_and_the_code():
    X = np.random.default_rng(0).normal(size=(20, 3))
    wanted = PageRequest(
        "a", seconds={"fit": 1.5}, sample_weight=np.ones(20), command="mercer x"
    )
    section = wanted.last(mercer.PCA(2).fit(X), {"report": 0.25})
    rows = dict(section.parts[1].rows)
    assert (rows["seconds, fit"], rows["seconds, report"]) == ("1.5", "0.25")
    texts = [part.text for part in section.parts if hasattr(part, "text")]
    assert texts[0] == "mercer x"
    assert "sample_weight=sample_weight" in texts[1]


def test_weights_of_a_file_are_called_as_the_code_makes_them():
    X = np.random.default_rng(0).normal(size=(20, 3))
    wanted = PageRequest("a", sample_weight=np.ones(20), data="made.rows", opening="made = 1")
    text = wanted.last(mercer.PCA(2).fit(X)).parts[-1].text
    assert "made.rows, sample_weight=made.weights" in text


def test_names_by_a_function_are_not_listed():
    assert PageRequest("a", row_names=dict).listed_names is None
    assert PageRequest("a", row_names=["x"]).listed_names == ["x"]
