// The name of this file is an offence at line 1.
