"""A server and bots on this machine, and the program that ends them with their parent."""
