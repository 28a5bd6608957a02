import os

import pytest

import mercer
from mercer.cli._outputs import refuse_model, refuse_scores, refuse_twins, same_file
from mercer.errors import InputError


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    return path


def test_a_new_file_is_fine(tmp_path, table):
    path = tmp_path / "new.csv"
    assert refuse_scores(str(path), option="--scores", inputs=[str(table)]) == path
    assert refuse_scores("-", option="--scores") is None


@pytest.mark.parametrize("way", ["itself", "symbolic link", "hard link", "detour"])
def test_the_input_is_never_written_over(tmp_path, table, way):
    path = tmp_path / "other.csv"
    if way == "symbolic link":
        path.symlink_to(table)
    elif way == "hard link":
        os.link(table, path)
    else:
        path = table if way == "itself" else tmp_path / ".." / tmp_path.name / table.name
    with pytest.raises(InputError, match="take the place of the input"):
        refuse_scores(str(path), option="-o", inputs=[str(table)], force=True)


def test_what_is_there_stays_without_force(tmp_path, table):
    with pytest.raises(InputError, match="--force"):
        refuse_scores(str(table), option="-o")
    assert refuse_scores(str(table), option="-o", force=True) == table
    with pytest.raises(InputError, match="does not exist"):
        refuse_scores(str(tmp_path / "no" / "t.csv"), option="-o")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="must be a file"):
        refuse_scores(str(tmp_path / "folder.csv"), option="-o", force=True)


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.csv.gz"])
def test_kinds_that_are_not_written(tmp_path, name):
    with pytest.raises(InputError, match="not known by its name"):
        refuse_scores(str(tmp_path / name), option="-o")


@pytest.mark.parametrize("name", ["m.csv", "m.parquet", "-"])
def test_a_model_is_no_table(tmp_path, name):
    with pytest.raises(InputError, match=r"ends in \.mercer"):
        refuse_model(name if name == "-" else str(tmp_path / name))


def test_a_file_of_others_is_no_model_even_with_force(tmp_path):
    path = tmp_path / "notes.mercer"
    path.write_text("my own notes about mercers", encoding="utf-8")
    with pytest.raises(InputError, match=r"replaces \.mercer files only"):
        refuse_model(str(path), force=True)
    mercer.save(mercer.PCA(2), tmp_path / "m.mercer")
    assert refuse_model(str(tmp_path / "m.mercer"), force=True) == tmp_path / "m.mercer"


def test_outputs_are_two_files(tmp_path):
    one = tmp_path / "a.mercer"
    with pytest.raises(InputError, match=r"-o .* and --checkpoint"):
        refuse_twins({"-o": one, "--scores": None, "--checkpoint": tmp_path / "." / "a.mercer"})
    refuse_twins({"-o": one, "--scores": tmp_path / "a.csv"})
    assert not same_file(one, tmp_path / "-")


def test_a_folder_that_may_not_be_written_to_is_known_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match="nothing may be written"):
        refuse_scores(str(tmp_path / "new.csv"), option="--scores")
