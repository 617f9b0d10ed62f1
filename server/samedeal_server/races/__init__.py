"""Races as pure values, with logs, delayed views, receipts, bans and refusals."""
