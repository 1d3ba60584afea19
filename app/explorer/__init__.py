"""The files of the page at /; app/routes/explorer.py serves them."""
