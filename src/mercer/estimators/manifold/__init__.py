"""Maps from neighbours and distances."""
