"""Commands as they are typed, and those that must do well."""

from click.testing import CliRunner

from mercer.cli.app import commands


def ok(done):
    """Return what a command ended with, which is success."""
    assert done.exit_code == 0, done.stderr
    return done


def command(*first):
    """Return a function that types words behind the first ones, in this process."""

    def run(*words, **given):
        return CliRunner().invoke(commands, [*first, *map(str, words)], **given)

    return run
