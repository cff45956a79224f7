// A folder that the design does not know is an offence at line 1.
