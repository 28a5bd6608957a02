"""The pictures there are: from numbers, or a fitted model, to a panel of marks."""
