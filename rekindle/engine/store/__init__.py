"""Keyed state as immutable columnar segments: files that hold sections, and lists of the sections that count.

`disk` is all that is asked of storage. A `section` holds rows of one state of one subtask, sorted by address; `merging`
makes one of several and says which; a `segment_file` holds what one call has written, with the newest list of each
state (`state_list`). `segment_state` is what operators read and write; a `call` opens states and writes one file;
the `inventory` knows which files are needed, and removes the others; a `snapshot` is all rows of an entry.
"""
