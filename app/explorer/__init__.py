"""The files of the page at /; app/routes/pages/explorer.py serves them."""
