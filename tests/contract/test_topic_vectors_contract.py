import re

import pytest
from sklearn.utils.estimator_checks import check_estimator

from mercer import TopicVectors


@pytest.mark.parametrize("centred", [True, False])
def test_it_keeps_scikit_learns_contract(centred):
    done = check_estimator(TopicVectors(1, centred=centred), on_skip=None, on_fail=None)
    assert not {r["check_name"]: repr(r["exception"]) for r in done if r["status"] == "failed"}
    skipped = {r["check_name"] for r in done if r["status"] == "skipped"}
    assert {name for name in skipped if not re.search("array_api", name)} == set()
    assert sum(r["status"] == "passed" for r in done) >= 40
