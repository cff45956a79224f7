#pragma once
#include "shell/mongo/execute/command_attempts.hpp"

#include <memory>
#include <utility>

namespace holdfast::shell::mongo {

/// Converts the reply of a command, or its failure, to the operation's result.
template <class T>
using reply_reader = result<T> (*)(result<bson::document> outcome,
                                   const core::mongo::command& sent);

/// command_attempts for an operation whose result is not the reply itself.
template <class T>
class operation_attempts : public command_attempts {
public:
    operation_attempts(std::shared_ptr<client_state>&& client, command_order&& order,
                       reply_reader<T> read)
        : command_attempts{std::move(client), std::move(order)}, read_{read}
    {
    }

    result<T> outcome_of(result<bson::document> outcome) const
    {
        return read_(std::move(outcome), order());
    }

private:
    reply_reader<T> read_;
};

/// Executes one command, with all retries it is entitled to.
runtime::awaitable<result<bson::document>> execute(std::shared_ptr<client_state> client,
                                                   command_order&& order);

/// Executes one command, and reads its reply. `Outcome` is T, and then failure is thrown, or
/// result<T>.
template <class Outcome, class T>
runtime::awaitable<Outcome> execute_and_read(std::shared_ptr<client_state> client,
                                             command_order&& order, reply_reader<T> read)
{
    runtime::world& in = client->world;
    const core::deadline until = order.until;
    using attempts = recycled<operation_attempts<T>>;
    return retry_loop_of<Outcome>(in, until,
                                  attempts::make(std::move(client), std::move(order), read));
}

}  // namespace holdfast::shell::mongo
