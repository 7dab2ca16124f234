"""The `kille` command."""
