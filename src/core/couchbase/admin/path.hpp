#pragma once
#include "core/uri/percent.hpp"

#include <string>

namespace holdfast::core::couchbase {

/// The path of its segments, each escaped: path_of("pools", "default", name).
template <class... Segments>
std::string path_of(const Segments&... segments)
{
    std::string path;
    ((path += '/' + uri::percent_encode(segments)), ...);
    return path;
}

}  // namespace holdfast::core::couchbase
