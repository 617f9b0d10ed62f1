"""The page on which anyone can watch races in a browser."""
