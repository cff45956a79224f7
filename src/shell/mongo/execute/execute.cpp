#include "shell/mongo/execute/execute.hpp"

namespace holdfast::shell::mongo {

namespace {

result<bson::document> copy_reply(core::mongo::command_outcome outcome, const core::mongo::command&)
{
    if (!outcome)
        return std::move(outcome).error();
    return bson::document{*outcome};
}

}  // namespace

runtime::awaitable<result<bson::document>> execute(std::shared_ptr<client_state> client,
                                                   command_order&& order)
{
    return execute_and_read<result<bson::document>>(std::move(client), std::move(order),
                                                    copy_reply);
}

}  // namespace holdfast::shell::mongo

namespace holdfast::shell {

template runtime::awaitable<result<bson::view>> remaining_attempts(runtime::world&,
                                                                   mongo::command_attempts&,
                                                                   core::deadline,
                                                                   std::optional<error>);

}  // namespace holdfast::shell
