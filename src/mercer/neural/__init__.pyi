"""The names of `mercer.neural`, and where they live."""

from mercer.neural._networks import network as network
