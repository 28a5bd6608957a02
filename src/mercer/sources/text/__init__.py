"""Tables in text files: delimited, or one JSON object per line."""
