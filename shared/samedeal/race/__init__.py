"""The life of a race: ``transitions`` has its rules, and what each command does in each phase. Time is an argument."""
