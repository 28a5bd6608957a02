import pytest
from sklearn.base import clone

from mercer import KernelPCA, LandmarkFeatures, RandomFeatures
from mercer.errors import InputError
from mercer.kernels import RBF, Linear

DEFAULT = RBF()


@pytest.mark.parametrize("method", [KernelPCA, RandomFeatures])
def test_parts_of_the_kernel_are_set_by_replacing_it(method):
    model = method(kernel=DEFAULT)
    assert model.set_params(kernel__lengthscale=2.0) is model
    assert model.kernel == RBF(2.0)
    assert DEFAULT.lengthscale == "median"
    model.set_params(kernel="matern", kernel__nu=2.5, random_state=3)
    assert (model.kernel.nu, model.random_state) == (2.5, 3)
    with pytest.raises(InputError, match="no parameter"):
        model.set_params(kernel__length=1.0)
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(colour=1)


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
