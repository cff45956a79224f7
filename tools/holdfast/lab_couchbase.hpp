#pragma once
#include "lab.hpp"

#include <string>

namespace holdfast::tool {

/// What `holdfast lab --couchbase` understands on its standard input, for --help.
std::string couchbase_footer();

/// As run() in lab.hpp.
int run_couchbase(const lab_options& options);

}  // namespace holdfast::tool
