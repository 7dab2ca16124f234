"""Pictures of tables: the cards, how they lie, and the picture as SVG or as pixels."""
