// Boost.JSON without a library to link: the headers that Asio needs anyway are enough, and users
// have no further package to install. It has this file to itself: in a static library a file that
// is not referenced is left out, so a program with its own Boost.JSON keeps that one.
#include <boost/json/src.hpp>
