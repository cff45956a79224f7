// Any reply to an operation: each reads it or fails with a reason, what is read has as many parts
// as were asked for, and content that was read as JSON can be written again.
#include "core/couchbase/operation/get.hpp"
#include "core/couchbase/operation/projected_get.hpp"
#include "core/couchbase/operation/store.hpp"
#include "core/couchbase/operation/subdoc.hpp"
#include "holdfast/couchbase/content.hpp"
#include "require.hpp"

#include <boost/describe/class.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace holdfast;
using namespace holdfast::core::couchbase;
namespace cb = holdfast::couchbase;

struct airline {
    std::string name = {};
    std::optional<std::int64_t> fleet = {};
    std::vector<double> rates = {};
};
BOOST_DESCRIBE_STRUCT(airline, (), (name, fleet, rates))

constexpr kv_status statuses[] = {
    kv_status::success,
    kv_status::not_found,
    kv_status::exists,
    kv_status::subdoc_multi_path_failure,
    kv_status::subdoc_success_deleted,
    kv_status::subdoc_multi_path_failure_deleted,
};
constexpr std::string_view long_projection[] = {"a", "b[0]", "c.d",   "e", "f", "g", "h", "i", "j",
                                                "k", "l",    "m[-1]", "n", "o", "p", "q", "r"};

/// The operations, made once: reading changes none of them.
struct operations {
    operation_context here = {};
    lookup_in_operation lookup = lookup_in_operation::make("k",
                                                           cb::lookup(cb::get("a"), cb::exists("b"),
                                                                      cb::get("x").xattr(),
                                                                      cb::count("c")),
                                                           {}, here)
                                     .value();
    mutate_in_operation mutate = mutate_in_operation::make(
                                     "k", cb::changes(cb::increment("n", 1), cb::upsert("a", 1)),
                                     {}, here)
                                     .value();
    projected_get_operation projected = projected_get(4);
    projected_get_operation whole = projected_get(std::size(long_projection));

    projected_get_operation projected_get(std::size_t paths) const
    {
        cb::get_options options;
        options.with_expiry = true;
        options.project = std::span{long_projection}.first(paths);
        return projected_get_operation::make("k", options, here).value();
    }
};

void check_error(const error& why)
{
    REQUIRE(why.code().failed());
    REQUIRE(!why.explain().empty());
}

void check_document(const encoded_document& read)
{
    const auto as_struct = cb::decode_content<airline>(read.content);
    if (as_struct) {
        bson::byte_buffer out;
        // A number beyond all doubles is refused, so that what was read can be written.
        REQUIRE(cb::encode_content(out, *as_struct).has_value());
    } else {
        check_error(as_struct.error());
    }
    (void)cb::decode_content<raw_json>(read.content);
    (void)cb::decode_content<cb::raw_text>(read.content);
    (void)cb::decode_content<cb::raw_bytes>(read.content);
}

template <class Operation, class Check>
void try_read(const Operation& by, const kv_reply& reply, const Check& check)
{
    if (!Operation::is_answer(reply.status))
        return;
    const auto read = by.read(reply);
    if (read)
        check(*read);
    else
        check_error(read.error());
}

template <class Read>
void check_paths(const Read& read, std::size_t count)
{
    REQUIRE(read.size() == count);
    for (std::size_t n = 0; n < read.size() + 1; ++n) {
        const auto value = read.template try_as<std::int64_t>(n);
        if (!value)
            check_error(value.error());
        (void)read.template try_as<std::string>(n);
        (void)read.template try_as<raw_json>(n);
        (void)read.template try_as<airline>(n);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const operations all;
    if (size < 3)
        return 0;
    const std::span<const std::uint8_t> rest{data + 3, size - 3};
    kv_reply reply;
    reply.status = statuses[data[0] % std::size(statuses)];
    reply.datatype = static_cast<kv_datatype>(data[1] & 0x07U);
    reply.cas = data[1];
    reply.extras = rest.first(std::min<std::size_t>(data[2], rest.size()));
    reply.value = rest.subspan(reply.extras.size());
    reply.vbucket = data[2];
    reply.bucket = "travel";

    const auto ignore = [](const auto&) {};
    const auto check_if_there = [](const auto& found) {
        if (found)
            check_document(*found);
    };
    try_read(get_operation{}, reply, check_document);
    try_read(get_if_operation{}, reply, check_if_there);
    try_read(exists_operation{}, reply, ignore);
    try_read(touch_operation{}, reply, ignore);
    try_read(upsert_operation{}, reply, ignore);
    try_read(counter_operation{}, reply, ignore);
    try_read(all.projected, reply, check_document);
    try_read(all.whole, reply, check_document);
    try_read(all.lookup, reply, [](const auto& read) { check_paths(read, 4); });
    try_read(all.mutate, reply, [](const auto& read) { check_paths(read, 2); });
    return 0;
}
