"""Boards, drawn as rows of styled text. Pure."""
