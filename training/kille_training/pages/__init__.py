"""What the pages of all rooms share: templates, colors, scales and the style of plots."""
