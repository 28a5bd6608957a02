"""The command ``mercer completion``: what a shell needs to complete commands and options."""

import click
from click.shell_completion import get_completion_class

from mercer.cli._options import speaking_options
from mercer.cli._voice import Voice


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@speaking_options
def command(voice: Voice, shell: str) -> None:
    r"""Write the completion script of a shell to stdout; nothing is installed.

    \b
    Examples:
      mercer completion bash > ~/.local/share/bash-completion/completions/mercer
      mercer completion zsh > ~/.zfunc/_mercer
      mercer completion fish > ~/.config/fish/completions/mercer.fish
    """
    script = script_of(shell)
    voice.result(script, {"shell": shell, "script": script})


def script_of(shell: str) -> str:
    """Return the script of a shell; it asks `mercer` itself what could stand next.

    Parameters
    ----------
    shell : {"bash", "zsh", "fish"}
        Its name.
    """
    from mercer.cli.app import commands

    kind = get_completion_class(shell)
    assert kind is not None
    made = kind(commands, {}, "mercer", "_MERCER_COMPLETE")
    # Click's own `source` looks first which bash is there: one that is too old says so itself.
    return str(made.source_template % made.source_vars()).strip()
