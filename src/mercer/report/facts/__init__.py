"""What pages know before a word is written: rows on maps, groups, categories, shapes."""
