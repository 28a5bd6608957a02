import itertools

from mercer.plots import group_style
from mercer.plots._palette import CHANCE, INK, MANY, MUTED, NIGHT, PALE, PAPER

# Linear-RGB maps of the three dichromacies (Viénot, Brettel and Mollon 1999 for the first two;
# a blue-blind projection of the same kind for the third).
DICHROMACY = {
    "protan": ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0)),
    "deutan": ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0)),
    "tritan": ((1.0, 0.14461, -0.14461), (0.0, 0.85924, 0.14076), (0.0, 0.85924, 0.14076)),
}


def linear(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def luminance(colour):
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def seen(colour, rows):
    rgb = linear(colour)
    return [max(0.0, sum(a * b for a, b in zip(row, rgb, strict=True))) ** 0.42 for row in rows]


def test_every_group_has_its_own_colour():
    assert len({group_style(i)[0] for i in range(MANY)}) == MANY
    assert group_style(MANY) == group_style(0)


def test_marks_stand_out_from_the_paper():
    for i in range(MANY):
        contrast = (luminance(PAPER) + 0.05) / (luminance(group_style(i)[0]) + 0.05)
        assert contrast > 3.0


def test_colour_or_shape_tells_two_groups_apart_for_every_reader():
    for kind, rows in DICHROMACY.items():
        for i, j in itertools.combinations(range(MANY), 2):
            (a, shape_a), (b, shape_b) = group_style(i), group_style(j)
            distance = sum(
                (u - v) ** 2 for u, v in zip(seen(a, rows), seen(b, rows), strict=True)
            )
            assert shape_a != shape_b or distance**0.5 > 0.2, (kind, i, j)


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_words_and_lesser_marks_stand_out_from_the_paper():
    assert contrast(INK, PAPER) > 7.0
    assert contrast(MUTED, PAPER) > 4.5
    assert contrast(PALE, PAPER) > 3.0
    assert contrast(CHANCE, PAPER) > 3.0


def test_at_night_every_mark_stands_out_from_black():
    for colour in (INK, MUTED, PALE, CHANCE, *(group_style(i)[0] for i in range(MANY))):
        assert contrast(NIGHT.get(colour, colour), "#111111") > 3.0, colour


def test_what_chance_does_is_told_from_what_was_found_by_every_reader():
    for rows in DICHROMACY.values():
        for other in (group_style(0)[0], PALE):
            pairs = zip(seen(CHANCE, rows), seen(other, rows), strict=True)
            assert sum((u - v) ** 2 for u, v in pairs) ** 0.5 > 0.1
