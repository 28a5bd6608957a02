import pytest
from sklearn.base import clone

from mercer import LandmarkFeatures
from mercer.errors import InputError
from mercer.kernels import RBF, Linear


def test_a_kernel_is_replaced_and_never_changed():
    shared = RBF(1.0)
    one, two = LandmarkFeatures(kernel=shared), LandmarkFeatures(kernel=shared)
    one.set_params(kernel__lengthscale=3.0, n_landmarks=7)
    assert one.kernel == RBF(3.0)
    assert one.n_landmarks == 7
    assert two.kernel == shared == RBF(1.0)
    assert clone(one).kernel == RBF(3.0)


def test_a_written_kernel_takes_parameters_too():
    model = LandmarkFeatures(kernel="rbf + linear").set_params(kernel__left__lengthscale=2.0)
    assert model.kernel == RBF(2.0) + Linear()
    with pytest.raises(InputError, match="lengthscale"):
        model.set_params(kernel__left__lenghtscale=2.0)
