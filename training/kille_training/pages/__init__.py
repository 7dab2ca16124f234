"""Shared parts of the pages: templates, colors, scales and the style of plots."""
