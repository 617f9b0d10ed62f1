"""The rules of races as pure code, with records, delayed boards, receipts, bans and refusals."""
