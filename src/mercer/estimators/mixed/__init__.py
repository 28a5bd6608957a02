"""Numbers and categories together, and groups of columns: FAMD and MFA."""
