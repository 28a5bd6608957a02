"""The score map: the rows of the data on two components, in equal units."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from mercer.plots._clouds import axis_label, clouds
from mercer.plots._marks import Axes, Panel

__all__ = ["scores"]


def scores(
    Z: ArrayLike,
    labels: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    axes: tuple[int, int] = (0, 1),
    *,
    ratio: ArrayLike | None = None,
    ellipse: float | None = None,
) -> Panel:
    """Describe the map of rows (z_ia, z_ib) for components a, b, one unit equal both ways.

    Equal units keep distances honest: a narrow direction looks narrow. Groups are told apart by
    colour and shape; names of one or two letters stand at the median point of their group,
    longer ones would hide points and go into a legend. Of more than 20,000 rows every m-th is
    drawn, and the panel says so.

    Parameters
    ----------
    Z : array of shape (n, k)
        Coordinates of the rows.
    labels : array of shape (n,), optional
        Group of each row; at most 12 different values.
    names : sequence of n str, optional
        Name of each row, shown on hover in small maps.
    axes : (int, int)
        The two components, counted from 0. With k = 1 both may be 0.
    ratio : array of shape (k,), optional
        Shares of variance, for the axis labels.
    ellipse : float in (0, 1), optional
        Draw around each group the ellipse that holds this share of a normal cloud with the
        mean and covariance of the group.

    Returns
    -------
    Panel
        One panel, for :func:`mercer.plots.figure` or :func:`mercer.plots.draw`.
    """
    drawn = clouds(Z, labels, names, axes, ellipse)
    units = "one unit is equally long in both directions"
    if ellipse is not None:
        units = f"equal units; ellipses hold {100 * ellipse:g} % of a normal cloud"
        units += "" if labels is None else ", dashed their mean"
    notes = [drawn.thinned, units]
    frame = Axes(
        "Map of the rows",
        x_label=axis_label(axes[0], ratio),
        y_label=axis_label(axes[1], ratio),
        note="; ".join(note for note in notes if note),
        legend=drawn.legend,
        equal=True,
    )
    return Panel(frame, drawn.marks, width=500.0)
