"""The pages, one for each kind of method: which sections, in which order."""
