"""The read API: what everybody may see, as JSON over plain HTTP, and news of public races as they happen."""
