"""Missing cells: filled along a fit, imputed once or several times."""
