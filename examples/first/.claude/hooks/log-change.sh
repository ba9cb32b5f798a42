#!/bin/sh
# Appends each change that the agent makes to changes.log.
cat >> "$CLAUDE_PROJECT_DIR/changes.log"
echo >> "$CLAUDE_PROJECT_DIR/changes.log"
