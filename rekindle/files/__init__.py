"""Files of ours.

`atomic_file`: whole or not at all; `json_files`: read strictly; `paths` as engines take them. The `job_folder`, and the
`catalog_folder`.
"""
