import pytest
from benchmarks import __main__ as command
from benchmarks import runner


@pytest.fixture
def runs(monkeypatch):
    """Record what would be run instead of running it."""
    made = []

    def run(cases, rivals, out, *, quick, **_others):
        made.append((len(cases), rivals, out.name, quick))
        return out

    monkeypatch.setattr(runner, "run", run)
    return made


def test_a_whole_run_is_kept_under_the_name_of_its_group(runs):
    assert command.main(["dense"]) == 0
    assert [(count, name) for count, _, name, _ in runs] == [(40, "dense.json")]


@pytest.mark.parametrize(
    "options", [["--quick"], ["--case", "*k10"], ["--rivals", "mercer", "sklearn-auto"]]
)
def test_a_part_is_written_elsewhere(runs, options):
    command.main(["dense", *options])
    assert runs[0][2] == "partial-dense.json"


def test_all_writes_one_file_per_group(runs):
    command.main(["all"])
    assert [name for _, _, name, _ in runs] == ["dense.json", "sparse.json", "real.json"]
    runs.clear()
    command.main(["all", "--out", "mine.json"])
    assert runs[0][2] == "mine-dense.json"


@pytest.mark.parametrize("name", [*command.NAMED, "missing"])
def test_cases_are_listed_and_not_run(name, capsys, monkeypatch):
    module = command.NAMED.get(name, command.missing)
    monkeypatch.setattr(module, "run", lambda *_: pytest.fail("it was asked to list them"))
    assert command.main([name, "--list"]) == 0
    named = capsys.readouterr().out.split()
    assert len(named) == len(module.CASES) > 0
    assert command.main([name, "--list", "--case", named[0]]) == 0
    assert capsys.readouterr().out.split() == named[:1]


def test_no_match_is_an_error(runs, capsys):
    assert command.main(["dense", "--case", "nothing"]) == 2
    assert "no dense case matches" in capsys.readouterr().err
    assert runs == []


def test_cases_can_be_listed(runs, capsys):
    assert command.main(["sparse", "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert runs == []
