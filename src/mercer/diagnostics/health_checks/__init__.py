"""Health: checks of what in the data changes how axes are read."""
