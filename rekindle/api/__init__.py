"""What programs hold in their hands: environment, tables, schemas, statement sets, expressions. PyFlink's names."""
