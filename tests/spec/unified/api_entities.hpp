#pragma once
#include "entities.hpp"
#include "events.hpp"
#include "holdfast/mongo/client.hpp"
#include "logs.hpp"
#include "run.hpp"
#include "running_lab.hpp"
#include "runtime/wait.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>

/// The entities of a case, each on the public API.
namespace holdfast::spec::unified {

/// The case needs something that this library does not have (yet): it is skipped, and this is why.
struct case_skipped : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct client_entity {
    mongo::client api;
    std::shared_ptr<client_events> events;
    std::shared_ptr<client_messages> messages;
    std::shared_ptr<runtime::event> news;  // of each recorded event
    std::size_t min_pool_size = 0;
    bool closed = false;
};

struct database_entity {
    mongo::database api;
    std::shared_ptr<client_entity> of;
};

struct collection_entity {
    mongo::collection api;
    std::shared_ptr<client_entity> of;
};

struct api_session final : session_entity {
    explicit api_session(mongo::session with) : api{std::move(with)} {}
    bson::document lsid() const override;
    bool dirty() const;
    void end();

    mongo::session api;
    mutable std::optional<bson::uuid> known_as;
    bool was_dirty = false;  // when it ended
};

struct cursor_entity {
    mongo::cursor api;
    /// The server's cursor must be there as soon as the entity is; this was read to make it.
    std::optional<bson::document> first = {};
};

/// Runs operations one after the other, beside the case.
struct thread_entity {
    explicit thread_entity(runtime::world& in) : news{in} {}

    std::deque<operation> waiting;
    runtime::event news;
    bool closing = false;  // no more will come
    bool ended = false;
    std::optional<std::string> failed = {};
};

/// All that belongs to one case while it runs.
struct context {
    context(running_lab& on, const settings& options)
        : lab{on}, profile{options.profile}, rescue{options.rescue}, world{on.servers().world()}
    {
    }

    running_lab& lab;
    std::string profile;
    bool rescue;
    std::shared_ptr<runtime::world> world;
    entities named;
    matcher rules{named};
    std::vector<std::string> reported_errors;  // what all errors that operations gave have said
};

/// Makes an entity as it is described. Throws case_failure, or case_skipped.
runtime::awaitable<void> make_entity(std::shared_ptr<context> in, entity_description what);

/// The session of that name.
api_session& session_named(const context& in, std::string_view id);

}  // namespace holdfast::spec::unified
