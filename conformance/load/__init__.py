"""Conformance under load: the packs inside Locust's users, on one machine or on several.

`campaign` is what the command line starts; `process` is what each of Locust's processes runs. Only `process` and the
modules that it imports may import Locust, which replaces sockets, threads and locks by gevent's.
"""
