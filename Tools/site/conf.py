"""The settings of sphinx for `make site`."""

project = "respool"
copyright = "the authors of respool"
root_doc = "index"
extensions = ["myst_parser"]
myst_heading_anchors = 6
html_theme = "furo"
html_title = "respool"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = None
pygments_style = "friendly"
pygments_dark_style = "native"
# JSON in pages may have an ellipsis.
suppress_warnings = ["misc.highlighting_failure"]

