"""The program in a spec: gates, choices, loops, conditions, reports, and what each step needs to know."""
