import json

import pytest
from click.testing import CliRunner

from mercer.cli.app import commands
from mercer.methods import COMMANDS, families


def run(*words):
    return CliRunner().invoke(commands, ["methods", *words])


def test_the_list_names_every_method():
    lines = run().stdout.splitlines()
    named = [line.split()[0] for line in lines if line.startswith("  ")]
    assert sorted(named) == sorted(COMMANDS)
    assert [line[:-1] for line in lines if line.endswith(":")] == list(families())
    document = json.loads(run("--json").stdout)
    assert [method["name"] for method in document["methods"]] == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_parameters_are_shown_as_they_are_typed(name):
    done = run(name)
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    method = json.loads(run(name, "--json").stdout)["method"]
    names = {one["name"]: one for one in method["parameters"]}
    assert names["n_components"]["option"] == "-k"
    assert all(one["option"].startswith(("-", "--")) for one in names.values())
    assert set(names) == set(COMMANDS[name].load()().get_params(deep=False))
    for one in names.values():
        head = one["option"].removesuffix("VALUE")
        assert f"\n{head}" in done.stdout


def test_defaults_are_those_of_the_command_line():
    lines = run("pca").stdout.splitlines()
    for line in ("-k auto", "--standardize auto", "--missing auto", "--tol", "--seed 0"):
        assert line in lines
    assert "-k" in run("robust-pca").stdout.splitlines()


def test_an_unknown_method_is_wrong_usage():
    done = run("pac")
    assert done.exit_code == 2
    assert "did you mean pca?" in done.stderr
