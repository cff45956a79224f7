#pragma once
#include "holdfast/completion.hpp"

#include <memory>
#include <utility>

namespace holdfast::mongo {

struct access;
struct client_impl;
struct collection_settings;

namespace details {

/// Starts an operation of operations.hpp, and copies all of its arguments that it needs later. The
/// bodies are in src/api/mongo/start_operation.hpp, instantiated in the library for each operation.
template <class Operation>
struct starter {
    using value_type = typename Operation::result_type;

    /// Throws `failure` when it is awaited.
    static asio::awaitable<value_type> start(const std::shared_ptr<client_impl>& client,
                                             const collection_settings& in, Operation&& operation);
    static asio::awaitable<result<value_type>> try_start(const std::shared_ptr<client_impl>& client,
                                                         const collection_settings& in,
                                                         Operation&& operation);
};

/// The client behind a client, a database or a collection, and the settings of its operations.
class handle {
public:
    asio::any_io_executor executor() const noexcept;

protected:
    handle(std::shared_ptr<client_impl> client,
           std::shared_ptr<const collection_settings> settings) noexcept
        : client_{std::move(client)}, settings_{std::move(settings)}
    {
    }

    /// The one place where an operation meets a completion token.
    template <class Operation, class Token>
    auto run(Operation operation, Token&& token) const
    {
        using starter = details::starter<Operation>;
        if constexpr (completion_details::throws_on_error<Token>)
            return starter::start(client_, *settings_, std::move(operation));
        else if constexpr (completion_details::awaits<Token>)
            return starter::try_start(client_, *settings_, std::move(operation));
        else
            return initiate(executor(),
                            starter::try_start(client_, *settings_, std::move(operation)),
                            std::forward<Token>(token));
    }

    /// The same for an operation that was given values of the caller's own types, as deduced from
    /// forwarding references: see refuse_awaited_temporaries().
    template <class... Arguments, class Operation, class Token>
    auto run_with(Operation operation, Token&& token) const
    {
        using outcome = decltype(run(std::move(operation), std::forward<Token>(token)));
        completion_details::refuse_awaited_temporaries<outcome, Arguments...>();
        return run(std::move(operation), std::forward<Token>(token));
    }

    std::shared_ptr<client_impl> client_;
    std::shared_ptr<const collection_settings> settings_;

private:
    friend struct mongo::access;
};

}  // namespace details

}  // namespace holdfast::mongo
