"""Harmful names of columns, levels, classes, rows and colours on every kind of page."""

import numpy as np
import pandas as pd
import pytest
from tests.report.family_tables import hair, iris, poison, renamed, symptoms
from tests.report.payloads import PAYLOADS
from tests.report.test_page import Reader

import mercer
from mercer.report import report


def page_of(kind, names):
    """Return the HTML of a kind of page whose every name is one of `names`."""
    rng = np.random.default_rng(0)
    y = None
    if kind == "counts":
        X = hair()
        X = pd.DataFrame(X.to_numpy(), names[: len(X)], names[7 : 7 + X.shape[1]])
        model = mercer.CorrespondenceAnalysis(2)
    elif kind == "topics":
        X = pd.DataFrame(rng.poisson(1, (30, 12)), columns=names[:12])
        model = mercer.TopicVectors(3)
    elif kind in ("mca", "famd", "mfa"):
        X = renamed(symptoms() if kind == "mca" else poison(), names)
        parts = {names[0]: list(X.columns[:5]), names[1]: list(X.columns[5:])}
        model = {
            "mca": mercer.MultipleCorrespondenceAnalysis(2),
            "famd": mercer.FAMD(2),
            "mfa": mercer.MFA(parts, 2),
        }[kind]
    else:
        rows, y = iris()
        X = renamed(rows, names)
        y = pd.Series(y).map(dict(zip(sorted(set(y)), names[3:6], strict=True))).to_numpy()
        model = {
            "lda": mercer.LinearDiscriminantAnalysis(),
            "kda": mercer.KernelDiscriminantAnalysis(),
            "fa": mercer.FactorAnalysis(1),
            "ppca": mercer.ProbabilisticPCA(2),
        }[kind]
    given = {"y": y} if kind in ("lda", "kda") else {}
    fitted = model.fit(X, **given)
    n = len(X)
    many = [names[i % len(names)] for i in range(n)]
    options = {"row_names": many, "title": names[2], "said": [names[4]], **given}
    if kind not in ("counts",):
        options["colours"] = {names[5]: many}
        options["sup"] = {names[6]: np.arange(n, dtype=float), names[8]: many[::-1]}
    return report(fitted, X, **options).html, report(fitted, title=names[2]).html


KINDS = ["counts", "mca", "famd", "mfa", "lda", "kda", "fa", "ppca", "topics"]


@pytest.mark.parametrize("kind", KINDS)
def test_no_name_becomes_code(kind):
    plain = [f"plain {i}" for i in range(len(PAYLOADS))]
    for harmful, harmless in zip(page_of(kind, PAYLOADS), page_of(kind, plain), strict=True):
        read, known = Reader(harmful), Reader(harmless)
        assert len(read.scripts) == len(known.scripts)
        assert set(read.tags) <= set(known.tags)
        assert not [name for name in read.attributes if name.startswith("on")]
        code = [text for given, text in read.scripts if "type" not in given]
        assert code == [text for given, text in known.scripts if "type" not in given]
