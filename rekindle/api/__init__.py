"""What programs hold in their hands: environment, tables, schemas, statement sets, plans, results. PyFlink's names."""
