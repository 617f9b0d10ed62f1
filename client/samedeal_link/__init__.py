"""What every client does: connect, resume, know, prove, and judge. It shows nothing."""
