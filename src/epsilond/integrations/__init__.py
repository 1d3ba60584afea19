"""Inside the training loops of other libraries: one module or folder for each host.

Importing a folder here imports no host. A host is imported when a name that needs it is first used, so that a record
can be read without the library that made it.
"""
