import pytest

from mercer import KernelPCA, RandomFeatures
from mercer.errors import InputError
from mercer.kernels import RBF

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
