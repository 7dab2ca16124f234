"""The pack, sets of cards and seats, arranging a deck, writing features."""
