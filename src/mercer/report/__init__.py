"""One self-contained page about a fit."""
