"""What the product says about timed work, and our choices where it says nothing."""

from __future__ import annotations

MOST_JOBS = 50
EXPIRY_DAYS = 7
"""A recurring job ends after so many days."""
WAKEUP_SECONDS = (60, 3600)
"""The least and the most that ScheduleWakeup waits."""
MONITOR_MS = 300_000
MONITOR_LONGEST_MS = 3_600_000
MOST_MONITORS = 16
LONGEST_PROMPT = 8_000
