"""Drawing a panel: frame, scale, labels, and the writers."""
