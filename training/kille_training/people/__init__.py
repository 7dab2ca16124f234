"""People at a table: the one loop behind the terminal and the web page, and advice."""
