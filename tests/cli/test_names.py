from mercer.cli._outputs import NAME, ROW, axis_names


def test_axes_are_counted_from_one():
    assert axis_names(3) == ["PC1", "PC2", "PC3"]
    assert axis_names(0) == []
    assert not {NAME, ROW} & set(axis_names(9))
