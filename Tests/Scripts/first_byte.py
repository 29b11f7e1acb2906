"""Reads the first byte of a URL and closes the connection: first_byte.py URL."""

import sys
import urllib.request

urllib.request.urlopen(sys.argv[1]).read(1)
