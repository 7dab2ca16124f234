"""The verbs of the `kille` command, one module each; `kille_training.cli` lists them."""
