"""Work on several threads, and those who hear how far it is."""
