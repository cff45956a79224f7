#pragma once
#include <boost/json.hpp>

#include <cstdint>
#include <string_view>

namespace holdfast::spec {

/// An official file, or one case of it, that is not run as the command line says. Specifications
/// have moved since ours were written, so that a newer case may demand what an older one forbids;
/// then it is run under the profile that is about the newer rule, and under that one only. If no
/// profile is about the older rule any more, the older case is skipped.
struct exception {
    std::uint64_t content;  // see fingerprint()
    std::string_view profile;  // empty: skipped
    std::string_view why;
};

/// The exception that a file or a case is, if it is one. It is known by all that it holds, so that
/// one of the same name with other demands is none; or, where the newer rule can be seen in what a
/// case demands, by that.
const exception* exception_for(const boost::json::value& content);

/// Of the whole content, without regard to white space.
std::uint64_t fingerprint(const boost::json::value& content);

}  // namespace holdfast::spec
