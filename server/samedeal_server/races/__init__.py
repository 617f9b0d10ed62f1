"""Records of races, delayed boards, receipts, bans and refusals, as pure code."""
