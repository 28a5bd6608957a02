"""Panels of the pages: sections of words, pictures and tables about one thing."""
