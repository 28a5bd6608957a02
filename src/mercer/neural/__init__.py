"""Methods as networks of torch: fitted kernel PCA layer by layer, and autoencoders."""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)
