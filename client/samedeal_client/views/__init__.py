"""The contents of the screens, as pure functions: from state, look and size to rows and click areas."""
