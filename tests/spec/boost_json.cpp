// Boost.JSON without a library to link: Debian's package of the headers is enough.
#include <boost/json/src.hpp>
