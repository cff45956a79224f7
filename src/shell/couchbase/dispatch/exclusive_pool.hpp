#pragma once
#include "shell/couchbase/connection/establish.hpp"
#include "shell/couchbase/connection/exclusive_connection.hpp"
#include "shell/pool/pool.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::shell::couchbase {

/// The connections of a blocking client to one node, for the documents of one bucket. Whether the
/// node is there at all is known from its shared connection, which also has its news: when that is
/// lost nothing is opened here until it is back.
class exclusive_pool final : public shell::pool {
public:
    using lease = shell::lease<exclusive_connection>;

    static std::shared_ptr<exclusive_pool> make(runtime::world& in,
                                                std::shared_ptr<const connection_config> config,
                                                endpoint server, std::string bucket);

    /// An idle one, if there is one.
    std::optional<lease> try_check_out(time_point now)
    {
        std::optional<lease> got;
        if (auto idle = take_idle(now))
            got.emplace(shared_from_this(), std::move(idle));
        return got;
    }
    /// Waits in the queue for one. The error is the pool's own (core::pool_errc), or why a
    /// connection could not be opened, or runtime::errc::cancelled.
    runtime::awaitable<result<lease>> check_out(time_point until);

    /// Those that threads are using.
    std::vector<std::shared_ptr<kv_connection>> in_use() const
    {
        std::vector<std::shared_ptr<kv_connection>> all;
        each_in_use([&](const pooled_connection& one) {
            all.push_back(static_cast<const exclusive_connection&>(one).inner());
        });
        return all;
    }

private:
    exclusive_pool(runtime::world& in, std::shared_ptr<const connection_config> config,
                   endpoint server, std::string bucket);

    runtime::awaitable<result<opened_connection>> open(std::uint32_t generation) override;
    void open_failed(const error&, std::uint32_t) override {}  // the caller that waits knows why
    void give_back(pooled_ptr what, time_point now) noexcept override;
    void queue(const std::vector<core::pool_event>&) override {}
    void deliver() override {}

    const std::shared_ptr<const connection_config> config_;
    const endpoint server_;
    const std::string bucket_;
};

}  // namespace holdfast::shell::couchbase
