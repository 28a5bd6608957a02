import pytest
from kept import assert_kept

from mercer import TopicVectors


@pytest.mark.parametrize("centred", [True, False])
def test_it_keeps_scikit_learns_contract(centred):
    assert_kept(TopicVectors(1, centred=centred))
