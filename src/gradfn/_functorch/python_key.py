"""Tracing, which gradfn does not do."""

from ..missing import refusing

make_fx = refusing("make_fx", "there is no tracer to make graphs of functions")
