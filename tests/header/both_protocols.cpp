#include "all_headers.hpp"

/// A program that speaks to MongoDB and to Couchbase: the public headers of both compile together,
/// and neither takes a name that the other needs.
namespace {

namespace hf = holdfast;

using mongo_client = hf::mongo::client;
using mongo_blocking_client = hf::mongo::sync::client;

/// Whether the operation may succeed if it is started again later, whatever database it was for.
[[maybe_unused]] bool is_transient(const hf::error& failed)
{
    if (failed.code() == hf::couchbase::errc::temporary_failure)
        return true;
    return hf::mongo::kind_of(failed) == hf::mongo::error_kind::network;
}

/// Both namespaces opened at once: a name in both would be ambiguous where it is used.
[[maybe_unused]] std::string_view name_of_first_reason()
{
    using namespace hf::mongo;
    using namespace hf::couchbase;
    [[maybe_unused]] const insert_one_options options{};
    [[maybe_unused]] const error_kind kind = error_kind::server;
    [[maybe_unused]] const std::shared_ptr<retry_strategy> strategy =
        std::make_shared<best_effort_retry_strategy>();
    return name_of(retry_reason_table[0].reason);
}

static_assert(std::is_copy_constructible_v<mongo_client>);
static_assert(!std::is_copy_constructible_v<mongo_blocking_client>);

}  // namespace
