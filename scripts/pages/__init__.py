"""The pages of the site that follow from the lists; `scripts/site_hook.py` gives them to mkdocs."""
