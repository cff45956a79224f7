#pragma once
#include "core/mongo/handshake/client_metadata.hpp"
#include "core/mongo/handshake/hello.hpp"
#include "core/mongo/handshake/login.hpp"
#include "core/mongo/settings/client_settings.hpp"
#include "core/mongo/wire/compression.hpp"
#include "holdfast/bson/document.hpp"
#include "runtime/world.hpp"
#include "shell/known_keys.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::shell::mongo {

/// What handshakes say of us. Libraries that wrap this one may add themselves at any time, for
/// connections that are opened from then on.
class self_description {
public:
    explicit self_description(core::mongo::client_metadata who, bson::document written)
        : who_{std::move(who)}, written_{std::move(written)}
    {
    }

    bson::document get() const;
    result<void> append(core::mongo::wrapping_library library);

private:
    mutable std::mutex mutex_;
    core::mongo::client_metadata who_;
    bson::document written_;
};

/// What all connections of a client have in common, made once.
struct connection_config {
    std::shared_ptr<self_description> client;
    std::shared_ptr<std::atomic<std::int32_t>> requests;  // how many were numbered
    std::vector<core::mongo::wire_compressor> compressors = {};  // in the order of preference
    int zlib_level = -1;
    std::optional<core::mongo::credential> credential = {};
    std::optional<core::mongo::login_mechanism> mechanism = {};  // none: negotiated
    std::shared_ptr<known_keys> keys = {};
    std::int32_t scram_max_iterations = core::sasl::default_max_scram_iterations;
    runtime::tls_ptr tls = {};  // null: none
    std::chrono::milliseconds connect_timeout{10'000};  // 0: no limit
    bool load_balanced = false;
    core::mongo::backpressure_flag backpressure = core::mongo::backpressure_flag::boolean;
    bool hello_over_op_msg = false;  // also the first one, in whatever spelling
    std::optional<core::mongo::server_api_settings> server_api = {};
};

/// As commands carry it. Points into the settings.
core::mongo::declared_api declared(
    const std::optional<core::mongo::server_api_settings>& api) noexcept;

/// Reads certificates, if there are any. An error says which setting is at fault.
result<connection_config> make_connection_config(runtime::world& in,
                                                 const core::mongo::client_settings& settings,
                                                 const core::mongo::client_metadata& who);

}  // namespace holdfast::shell::mongo
