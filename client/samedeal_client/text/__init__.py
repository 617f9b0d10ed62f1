"""Styled text and wording."""
