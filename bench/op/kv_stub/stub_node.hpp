#pragma once
#include "core/couchbase/wire/features.hpp"
#include "core/couchbase/wire/frame.hpp"
#include "core/couchbase/wire/frame_writer.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "lab/sasl/scram.hpp"
#include "stub_cluster.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::bench {

/// One connection to a data node that answers each get with the same document of 128 bytes and
/// takes each upsert, once the user has logged in. Anything else than the start of a connection
/// and these two is refused.
///
/// The replies to get and upsert are made once, after HELLO, and copied from then on, so that the
/// stub is never what a client is waiting for.
class stub_node {
public:
    explicit stub_node(const stub_cluster& in) : cluster_{in} {}

    /// Answers all requests that have arrived whole, and gives how many bytes these were. Nothing
    /// if they are no requests: the connection is to be closed.
    std::optional<std::size_t> answer(std::span<const std::uint8_t> received,
                                      bson::byte_buffer& out);

private:
    void answer_one(const core::couchbase::frame& request, bson::byte_buffer& out);
    void reply(const core::couchbase::frame& to, bson::byte_buffer& out,
               core::couchbase::kv_status status, std::string_view value = {},
               std::span<const std::uint8_t> extras = {}) const;
    void hello(const core::couchbase::frame& request, bson::byte_buffer& out);
    void begin_login(const core::couchbase::frame& request, bson::byte_buffer& out);
    void end_login(const core::couchbase::frame& request, bson::byte_buffer& out);
    void send_config(const core::couchbase::frame& request, bson::byte_buffer& out) const;
    void find_collection(const core::couchbase::frame& request, bson::byte_buffer& out) const;
    void prepare_replies();

    const stub_cluster& cluster_;
    core::couchbase::feature_set features_;
    lab::scram_conversation login_;
    bool logged_in_ = false;
    bool selected_ = false;
    bson::byte_buffer get_reply_;
    bson::byte_buffer upsert_reply_;
    std::uint64_t cas_ = 1;
};

}  // namespace holdfast::bench
