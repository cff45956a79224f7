#pragma once
#include <string>
#include <string_view>

namespace holdfast::core::couchbase {

/// The key of a HELLO, by which a server's log and statistics name a connection:
/// {"a":"<agent>","i":"<client>/<connection>"}. Servers take keys of 250 bytes, so an agent of more
/// than 200 is cut, between two characters.
std::string hello_key(std::string_view agent, std::string_view connection_name);

}  // namespace holdfast::core::couchbase
