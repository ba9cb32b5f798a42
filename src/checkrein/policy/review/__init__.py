"""What rules mean for many calls: those of the past, those of a team's tests, those of two revisions."""
