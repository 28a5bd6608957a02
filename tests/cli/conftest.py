import inspect

from click.testing import CliRunner

# Before click 8.2 the runner mixed stderr into stdout unless it was told not to.
_known = inspect.signature(CliRunner.__init__).parameters
if "mix_stderr" in _known:
    CliRunner.__init__.__defaults__ = tuple(
        False if name == "mix_stderr" else parameter.default
        for name, parameter in _known.items()
        if parameter.default is not inspect.Parameter.empty
    )
