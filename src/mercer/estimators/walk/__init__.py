"""The walk that every method takes: admission, plan, pairs, files, parts, checkpoints."""
