#pragma once
void tell(int status);  // offence: dialect
