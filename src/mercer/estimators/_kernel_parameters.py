"""Parameters of estimators that have a kernel: a kernel is a value and is replaced whole."""

from typing import Any, Self

from sklearn.base import BaseEstimator

from mercer.kernels import as_kernel


class KernelParameters(BaseEstimator):
    """Abstract: ``set_params(kernel__lengthscale=2)`` replaces the kernel."""

    kernel: Any

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__lengthscale=2`` replaces the kernel, which is a value."""
        nested = {name: params.pop(name) for name in list(params) if name[:8] == "kernel__"}
        super().set_params(**params)
        if nested:
            values = {name.removeprefix("kernel__"): value for name, value in nested.items()}
            self.kernel = as_kernel(self.kernel).with_params(**values)
        return self
