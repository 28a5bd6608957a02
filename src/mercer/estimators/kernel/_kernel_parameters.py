"""Setting the parameters of a kernel, which is a value, through the estimator that holds it."""

from typing import Any, Self

from mercer.kernels import as_kernel


class KernelParameters:
    """Adds ``set_params(kernel__lengthscale=2)`` to an estimator with a `kernel`."""

    kernel: Any

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__lengthscale=2`` replaces the kernel, which is a value."""
        nested = {name: params.pop(name) for name in list(params) if name[:8] == "kernel__"}
        super().set_params(**params)  # type: ignore[misc]
        if nested:
            values = {name.removeprefix("kernel__"): value for name, value in nested.items()}
            self.kernel = as_kernel(self.kernel).with_params(**values)
        return self
