import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.csgraph import dijkstra

from mercer.arrays import can_compile
from mercer.operators import geodesics, graph, graph_from
from mercer.operators.graphs import _shortest_paths

pytestmark = pytest.mark.skipif(not can_compile(), reason="needs numba")


@pytest.fixture(autouse=True)
def compiled_at_once(monkeypatch):
    monkeypatch.setattr(_shortest_paths, "_WORTH_LOADING", 0)


def lattice(side):
    """Return lengths with many ties: all paths of as many steps are as long."""
    line = scipy.sparse.diags_array([np.ones(side - 1)] * 2, offsets=[-1, 1])
    one = scipy.sparse.eye_array(side)
    return scipy.sparse.kron(line, one) + scipy.sparse.kron(one, line)


def sheet(n, scale=1.0):
    rng = np.random.default_rng(0)
    return graph(scale * rng.uniform(size=(n, 2)), 8)


def star(n):
    """Return a hub whose points lie at very different distances."""
    lengths = np.geomspace(1e-300, 1e12, n - 1)
    hub = scipy.sparse.csr_matrix((lengths, (np.zeros(n - 1, int), np.arange(1, n))), (n, n))
    return graph_from(hub + hub.T, lengths=True)


GRAPHS = {
    "ties": lambda: graph_from(lattice(13), lengths=True),
    "sheet": lambda: sheet(400),
    "tiny": lambda: sheet(150, 1e-150),
    "star": lambda: star(40),
    "two points": lambda: graph_from(np.array([[0, 3.0], [3.0, 0]]), lengths=True),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_paths_have_the_bits_of_dijkstra(name):
    made = GRAPHS[name]()
    rng = np.random.default_rng(1)
    some = rng.permutation(made.n)[: max(1, made.n // 2)]
    for sources in (np.arange(made.n), some, np.r_[some, some[:3]]):
        exact = dijkstra(made.lengths, directed=True, indices=sources)
        np.testing.assert_array_equal(geodesics(made, sources), exact)


def test_few_sources_go_alone():
    made = sheet(300)
    exact = dijkstra(made.lengths, directed=True, indices=[7])
    np.testing.assert_array_equal(geodesics(made, np.array([7])), exact)
