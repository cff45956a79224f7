#pragma once
#include "core/mongo/wire/compression.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/object_id.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::core::mongo {

/// The hello reply of one connection. It stays with that connection: what
/// a monitor heard may be older or newer, and of another server behind the same name.
struct connection_description {
    std::int32_t min_wire_version = 0;
    std::int32_t max_wire_version = 0;
    std::int32_t max_bson_object_size = 16 * 1024 * 1024;
    std::int32_t max_message_size = 48'000'000;
    std::int32_t max_write_batch_size = 100'000;

    bool hello_ok = false;  // hello may be used instead of isMaster
    bool is_arbiter = false;  // an arbiter has no users: authentication is skipped
    std::optional<std::chrono::minutes> logical_session_timeout = {};
    std::optional<std::int64_t> server_connection_id = {};  // as in the server's log
    std::optional<bson::object_id> service_id = {};  // behind a load balancer

    std::vector<wire_compressor> compressors = {};  // the server's, without those we do not know
    std::optional<std::vector<std::string>> supported_mechanisms = {};  // whatever it named
    std::optional<bson::document> speculative_reply = {};
};

/// Reads the answer to the first hello of a connection; the whole of it is validated. An error if
/// the server refused (context "code", and its labels if we know them), or if it is not fit for the
/// load balancer in front of it.
result<connection_description> parse_hello_reply(bson::view reply, bool load_balanced = false);

}  // namespace holdfast::core::mongo
