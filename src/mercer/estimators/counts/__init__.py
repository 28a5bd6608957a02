"""Correspondence analysis of tables of counts."""
