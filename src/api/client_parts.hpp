#pragma once
#include "core/mongo/uri/uri.hpp"
#include "holdfast/mongo/client.hpp"
#include "runtime/wait.hpp"
#include "shell/mongo/connection/recipe.hpp"
#include "shell/mongo/execute/client_state.hpp"
#include "shell/mongo/execute/command_order.hpp"
#include "shell/mongo/execute/operation_session.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace holdfast::mongo {

/// What stands behind a client, in whatever world it lives.
struct client_parts : std::enable_shared_from_this<client_parts> {
    client_parts(std::shared_ptr<runtime::world> in, core::mongo::parsed_uri from,
                 client_options how);
    client_parts(const client_parts&) = delete;
    client_parts& operator=(const client_parts&) = delete;
    ~client_parts();

    /// Looks up the seeds if they come from DNS, and opens the topology; once, whoever comes first.
    runtime::awaitable<result<void>> open();

    runtime::awaitable<result<bson::document>> run(shell::mongo::command_order order);
    runtime::awaitable<result<bson::document>> open_and_run(shell::mongo::command_order order);
    shell::mongo::command_order order_for(std::string_view database, bson::view command,
                                          command_options how) const;
    session start_session();
    result<void> append_metadata(std::string_view name, std::string_view version,
                                 std::string_view platform);
    runtime::awaitable<void> close();
    std::string dump();

    /// Nothing has to be looked up or refused first.
    bool may_run_now(const shell::mongo::command_order& order) const noexcept
    {
        return is_open() && !order.body.empty() && (!order.session || order.session->owner == this);
    }
    bool is_open() const noexcept { return where.load(std::memory_order_acquire) == stage::open; }

    const std::shared_ptr<runtime::world> world;
    const client_options options;
    std::function<runtime::stream_ptr(runtime::stream_ptr)> make_blocking = {};  // see pool_options
    core::mongo::parsed_uri source;
    runtime::event opened;

    std::mutex mutex;
    enum class stage : std::uint8_t { fresh, opening, open, failed, closed };
    std::atomic<stage> where = stage::fresh;  // changes under the mutex
    std::shared_ptr<shell::mongo::client_state> state;  // once open; does not change then
    std::optional<error> failure;
    std::shared_ptr<shell::mongo::self_description> described;  // once open
    std::vector<core::mongo::wrapping_library> wrapped_by;  // what was added before

private:
    static runtime::awaitable<void> end_sessions(std::shared_ptr<shell::mongo::client_state> with);
};

}  // namespace holdfast::mongo
