"""From a table that was looked at to the rows of a fit, and to rows like them."""
