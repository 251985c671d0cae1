"""Jobs seen from outside their process.

`home` is where they live, `status` how they are; `detach` starts one in a process of its own; `control` asks one for
something by `requests`; a `savepoint` is taken whether or not it runs, and `state` is one to be looked at.
"""
