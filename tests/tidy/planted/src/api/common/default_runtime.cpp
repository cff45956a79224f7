#include "net/runtime.hpp"
#include "sim/runtime.hpp"  // offence: layers
