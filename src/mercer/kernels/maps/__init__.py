"""Feature maps: exact ones, random ones, and those of texts and graphs."""
