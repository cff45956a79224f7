// A pure module of the lab is as pure as core.
#include <mutex>  // offence: purity
