#include <vector>  // offence: own_header_first
#include "api/own_header.hpp"
