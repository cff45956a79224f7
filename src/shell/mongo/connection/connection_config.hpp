#pragma once
#include "core/mongo/handshake/client_metadata.hpp"
#include "core/mongo/handshake/hello.hpp"
#include "core/mongo/handshake/login.hpp"
#include "core/mongo/settings/client_settings.hpp"
#include "core/mongo/wire/compression.hpp"
#include "holdfast/bson/document.hpp"
#include "runtime/world.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::shell::mongo {

/// SCRAM keys of earlier logins, which are slow to compute. Shared by all connections of a client.
class known_keys {
public:
    std::vector<core::mongo::scram_keys> all() const;
    void add(core::mongo::scram_keys keys);

private:
    static constexpr std::size_t most = 4;  // one per mechanism, and some for changed passwords

    mutable std::mutex mutex_;
    std::vector<core::mongo::scram_keys> keys_;
};

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
    runtime::tls_ptr tls = {};  // null: none
    std::chrono::milliseconds connect_timeout{10'000};  // 0: no limit
    bool load_balanced = false;
    core::mongo::backpressure_flag backpressure = core::mongo::backpressure_flag::boolean;
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
