#include "shell/mongo/execute/execute.hpp"

#include "core/mongo/error/server_error.hpp"
#include "core/mongo/operation/operation_name.hpp"
#include "core/mongo/operation/write_reply.hpp"

#include <string>
#include <utility>

namespace holdfast::shell::mongo {

namespace {

result<bson::document> copy_reply(core::mongo::command_outcome outcome, const core::mongo::command&)
{
    if (!outcome)
        return std::move(outcome).error();
    return bson::document{*outcome};
}

}  // namespace

error command_attempts::explained(error why, bool found_in_reply)
{
    const bool refused = why.code().category() == core::mongo::server_category();
    if (found_in_reply && refused && attempt_ && why.history().empty()) {
        record_refusal(why);
        why = history_.complete(std::move(why));
    }
    // A checkout that timed out does not know whose pool it was.
    if (why.context("server").empty() && !why.history().empty()) {
        std::string server = why.history().back().server.value();
        if (!server.empty())
            why = std::move(why).with_context("server", std::move(server));
    }
    return core::mongo::with_operation(std::move(why), command());
}

void command_attempts::record_refusal(const error& why)
{
    history_.failed_on(attempt_->on.address());
    history_.record(why, "not retried: the server has refused the statement", {}, replied_at_);
}

/// Those who read the replies of bulk writes do not know of attempts.
void command_attempts::keep_refusal(bson::view reply)
{
    const error_code code = core::mongo::first_refusal(reply);
    if (!code.failed()) [[likely]]
        return;
    record_refusal(error{code, {}});
    order_.facts->refused = history_.attempts();
}

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
