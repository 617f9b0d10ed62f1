"""What the screens around a race look like, pure: state, look and size in, rows and what can be clicked out."""
