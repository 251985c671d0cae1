"""What a session knows by name: `catalogs` in memory, and the statements that change them.

`create_table` resolves a table, `like` what it takes over from another one, `ddl` applies statements.
"""
