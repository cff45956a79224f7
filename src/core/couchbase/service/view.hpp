#pragma once
#include "core/couchbase/service/service_request.hpp"
#include "holdfast/couchbase/service_options.hpp"
#include "holdfast/error.hpp"

#include <string_view>

namespace holdfast::core::couchbase {

struct view_target {
    std::string_view bucket = {};
    std::string_view design_document = {};
    std::string_view view = {};
};

/// By GET; many keys are sent in the body of a POST. Each attempt sends the same.
/// errc::invalid_argument for a key that is not JSON.
result<service_request> make_view(const view_target& target,
                                  const holdfast::couchbase::view_options& options);

}  // namespace holdfast::core::couchbase
