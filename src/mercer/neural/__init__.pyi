"""The names of `mercer.neural`, and where they live."""

from mercer.neural._fine_tuning import FineTuned as FineTuned
from mercer.neural._fine_tuning import fine_tune as fine_tune
from mercer.neural._networks import network as network
