"""Interlock for Python: recorders of what applications issue. Written to be read by `interlock check`."""
