"""The commands of operators, one module each."""
