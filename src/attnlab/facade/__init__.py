"""What `import attnlab` offers: the laboratory and its parts for a notebook or a script.

The names are in `attnlab.__init__`, which imports a module of this package when one of its names
is first used. Nothing here computes a record: `train` and `descend` run in this process, and
`check`, `figure`, `sweep` and `multiverse` ask the laboratory, as the command line does.
"""
