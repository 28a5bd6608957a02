"""Looking at a table: what each column holds, and what it will be used for."""
