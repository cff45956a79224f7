#include "shell/mongo/execute/execute.hpp"

namespace holdfast::shell::mongo {

runtime::awaitable<result<bson::document>> execute(std::shared_ptr<client_state> client,
                                                   command_order&& order)
{
    runtime::world& in = client->world;
    const core::deadline until = order.until;
    using attempts = recycled<command_attempts>;
    return retry_loop_of<result<bson::document>>(
        in, until, attempts::make(std::move(client), std::move(order)));
}

}  // namespace holdfast::shell::mongo

namespace holdfast::shell {

template runtime::awaitable<result<bson::document>> remaining_attempts(runtime::world&,
                                                                       mongo::command_attempts&,
                                                                       core::deadline,
                                                                       std::optional<error>);

}  // namespace holdfast::shell
