"""Multiple correspondence analysis of tables of categories."""
