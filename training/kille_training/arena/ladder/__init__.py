"""A tournament that goes on: players are submitted at any time, are rated, and are tested."""
