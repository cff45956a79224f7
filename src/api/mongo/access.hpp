#pragma once
#include "holdfast/mongo/client.hpp"

#include <memory>
#include <string_view>
#include <utility>

namespace holdfast::runtime {
class world;
}

namespace holdfast::mongo {

struct client_impl;
struct collection_settings;

/// What the public handles keep private: how they are made, and what they refer to. For the library
/// itself and its tests.
struct access {
    /// A client in another world than that of sockets, such as the simulator's.
    static result<client> in_world(std::shared_ptr<runtime::world> world, std::string_view uri,
                                   client_options options = {});

    static client make_client(const std::shared_ptr<client_impl>& impl) { return client{impl}; }

    /// A database or a collection.
    template <class Handle>
    static Handle make(std::shared_ptr<client_impl> client,
                       std::shared_ptr<const collection_settings> settings)
    {
        return Handle{std::move(client), std::move(settings)};
    }
    template <class Handle>
    static const std::shared_ptr<client_impl>& client_of(const Handle& which) noexcept
    {
        return which.client_;
    }
    static const collection_settings& settings_of(const collection& which) noexcept
    {
        return *which.settings_;
    }

    using cursor_impl = cursor::impl;
    static cursor make_cursor(std::shared_ptr<cursor_impl> impl) { return cursor{std::move(impl)}; }

    static session make_session(std::shared_ptr<shell::mongo::session_state> state)
    {
        return session{std::move(state)};
    }
    static const std::shared_ptr<shell::mongo::session_state>& state_of(const session& which)
    {
        return which.state_;
    }
};

}  // namespace holdfast::mongo
