#include "holdfast/couchbase/query_parameters.hpp"

#include "holdfast/couchbase/errc.hpp"

namespace holdfast::couchbase {

error query_parameters::cannot_encode(std::string_view name, std::size_t place, error why)
{
    const std::string which = name.empty() ? std::to_string(place + 1) : std::string{name};
    return error{errc::encoding_failure,
                 "parameter $" + which + " cannot be encoded: " + why.message()}
        .with_context("parameter", which);
}

}  // namespace holdfast::couchbase
