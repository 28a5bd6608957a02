"""A command line that must do well."""


def ok(done):
    """Return what a command ended with, which is success."""
    assert done.exit_code == 0, done.stderr
    return done
