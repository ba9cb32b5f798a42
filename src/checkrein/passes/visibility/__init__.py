"""What a session may see: skills by tier, category and override; the kitchen's tools by tag and category."""
