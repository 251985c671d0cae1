"""Compiled plans, apart from how they are made and how they run.

`format` is the JSON document: read, written, checked, explained. `compatibility` says whether the state of one plan may
go on in another. `evolution` makes a plan from an old one: newer node versions, a changed query.
"""
