"""Panels and lists around a board, as rows of text. Pure."""
