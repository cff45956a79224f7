#pragma once
#include "core/mongo/operation/command_outcome.hpp"
#include "shell/mongo/execute/command_attempts.hpp"

#include <memory>
#include <type_traits>
#include <utility>

namespace holdfast::shell::mongo {

/// A function that makes an operation's result of a command's reply, or of its failure. It takes
/// the outcome as a core::mongo::command_outcome, the reply where it lies, or as a
/// result<bson::document>, a copy.
template <class T, class Reply>
using reply_reader = result<T> (*)(Reply outcome, const core::mongo::command& sent);

/// command_attempts with the function that reads the reply.
template <class T, class Reply>
class operation_attempts : public command_attempts {
public:
    operation_attempts(std::shared_ptr<client_state>&& client, command_order&& order,
                       reply_reader<T, Reply> read)
        : command_attempts{std::move(client), std::move(order)}, read_{read}
    {
    }

    result<T> outcome_of(result<bson::view> outcome)
    {
        const bool holds_connection = outcome.has_value();
        auto made = read_(reply_of(std::move(outcome)), command());
        if (!made) [[unlikely]]
            made = explained(std::move(made).error(), holds_connection);
        if (holds_connection)
            release();
        return made;
    }

private:
    static Reply reply_of(result<bson::view>&& outcome)
    {
        if constexpr (std::is_same_v<Reply, result<bson::document>>) {
            if (outcome)
                return bson::document{*outcome};
            return std::move(outcome).error();
        } else {
            return std::move(outcome);
        }
    }

    reply_reader<T, Reply> read_;
};

/// Executes one command, with all retries it is entitled to.
runtime::awaitable<result<bson::document>> execute(std::shared_ptr<client_state> client,
                                                   command_order&& order);

/// Executes one command, and reads its reply. `Outcome` is T, and then failure is thrown, or
/// result<T>.
template <class Outcome, class T, class Reply>
runtime::awaitable<Outcome> execute_and_read(std::shared_ptr<client_state> client,
                                             command_order&& order,
                                             result<T> (*read)(Reply, const core::mongo::command&))
{
    runtime::world& in = client->world;
    const core::deadline until = order.until;
    using attempts = recycled<operation_attempts<T, Reply>>;
    return retry_loop_of<Outcome>(in, until,
                                  attempts::make(std::move(client), std::move(order), read));
}

}  // namespace holdfast::shell::mongo
