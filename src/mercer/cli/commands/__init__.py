"""The commands, a file each, named NAME_command, with a click command called `command`."""
