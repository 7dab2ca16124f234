"""Views of tables, texts made from them, and manuals of games."""
