"""The web table: a server on this machine, its pages, and who may see and do what."""
