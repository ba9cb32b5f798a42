"""What the recipes of a project run with: sessions that have the kitchen's tools."""
