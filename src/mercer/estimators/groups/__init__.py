"""Methods that tell classes apart."""
