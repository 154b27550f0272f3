"""Reports: verdicts as JSON and tables, figures as files, and the self-contained page."""
