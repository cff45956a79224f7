#include "shell/couchbase/execute/execute_http.hpp"

#include "shell/couchbase/execute/http_attempts.hpp"

#include <utility>

namespace holdfast::shell::couchbase {

namespace {

class whole_attempts final : public http_attempts {
public:
    whole_attempts(std::shared_ptr<cluster_state> cluster, service_call call)
        : http_attempts{std::move(cluster), std::move(call)}
    {
    }

    result<whole_reply> outcome_of(result<answer>&& end)
    {
        if (!end)
            return std::move(end).error();
        return whole_reply{head_.status, std::move(head_.content_type), std::move(body_), *target_};
    }

private:
    runtime::awaitable<std::optional<error>> read_reply() override
    {
        auto why = co_await collect(longest_whole_body, false);
        if (!why)
            why = classified(body_);
        co_return why;
    }
};

}  // namespace

runtime::awaitable<result<whole_reply>> execute_http(std::shared_ptr<cluster_state> cluster,
                                                     service_call call)
{
    runtime::world& world = cluster->world;
    const core::deadline until = call.until;
    return retry_loop_of<result<whole_reply>>(
        world, until, recycled<whole_attempts>::make(std::move(cluster), std::move(call)));
}

}  // namespace holdfast::shell::couchbase
