#pragma once
#include "holdfast/completion.hpp"
#include "holdfast/couchbase/row_source.hpp"
#include "holdfast/couchbase/service_metadata.hpp"
#include "holdfast/couchbase/service_results.hpp"
#include "holdfast/error.hpp"

#include <concepts>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::couchbase {

struct access;

namespace sync {
template <class Metadata>
class basic_rows;
}

namespace details {

/// What a row is unless the caller says it.
template <class Metadata>
struct row_of {
    using type = raw_json;
};
template <>
struct row_of<search_metadata> {
    using type = search_hit;
};
template <>
struct row_of<view_metadata> {
    using type = view_row;
};

/// Ends a coroutine that gives a T, or a result<T>.
template <class Outcome, class T>
Outcome give(result<T> outcome)
{
    if constexpr (std::same_as<Outcome, result<T>>)
        return outcome;
    else
        return std::move(outcome).value();
}

}  // namespace details

/// The rows of a query, read from the server as they are asked for: what the application does not
/// read waits at the server. Made by query(), analytics(), search() and view_query(), which do
/// nothing yet: the request is sent when the first row is asked for. Not for two threads or
/// coroutines at a time.
///
///     auto found = db.query("SELECT a.* FROM airline AS a");
///     for (;;) {
///         const auto one = co_await found.next<airline>();
///         if (!one)
///             break;
///         ...
///     }
///
/// Or, with the least cost for many rows:
///
///     for (bool more = co_await found.next_batch(); more; more = co_await found.next_batch())
///         for (std::string_view one : found.batch())
///             ...
///
/// A request is sent again, by the rules of retries, only as long as no row was there. An error
/// that comes later says how many were handed out, also as its context "rows"; then the rows end.
///
/// What has not been read when the rows go is given up: the connection is closed, and the server
/// stops.
template <class Metadata>
class basic_rows {
public:
    using row_type = typename details::row_of<Metadata>::type;

    /// The next row, or nothing at the end. T: raw_json, or what holdfast::json maps.
    template <class T = row_type, class Token = throw_on_error>
    auto next(Token&& token = {})
    {
        using outcome = completion_result_t<std::optional<T>, Token>;
        return initiate(executor(), next_as<T, outcome>(source_), std::forward<Token>(token));
    }

    /// Reads on until there are rows: false at the end. If next() or batch() have left some, it
    /// does not read.
    template <class Token = throw_on_error>
    auto next_batch(Token&& token = {})
    {
        return initiate(executor(), next_batch_as<completion_result_t<bool, Token>>(source_),
                        std::forward<Token>(token));
    }
    /// The rows that are at hand, each a text of JSON that is valid until the next one is asked
    /// for. A row that the loop has begun with counts as read.
    row_batch batch() const noexcept { return row_batch{source_.get()}; }

    /// All rows that are left, in one go.
    template <class T = row_type, class Token = throw_on_error>
    auto all(Token&& token = {})
    {
        using outcome = completion_result_t<std::vector<T>, Token>;
        return initiate(executor(), all_as<T, outcome>(source_), std::forward<Token>(token));
    }

    /// Reads to the end without a look at the rows: for statements that have none.
    template <class Token = throw_on_error>
    auto run(Token&& token = {})
    {
        using outcome = completion_result_t<Metadata, Token>;
        return initiate(executor(), run_as<outcome>(source_), std::forward<Token>(token));
    }

    /// What the server has reported besides the rows. It comes behind them: until the last row was
    /// read it is empty.
    const Metadata& metadata() const noexcept { return source_->template metadata<Metadata>(); }

    /// Gives up what has not been read. Rows that were read to their end need no close.
    void close() noexcept { source_->close(); }

    asio::any_io_executor executor() const noexcept { return source_->executor(); }

private:
    friend struct access;
    friend class sync::basic_rows<Metadata>;

    explicit basic_rows(std::shared_ptr<row_source> from) noexcept : source_{std::move(from)} {}

    template <class T, class Outcome>
    static asio::awaitable<Outcome> next_as(std::shared_ptr<row_source> from);
    template <class Outcome>
    static asio::awaitable<Outcome> next_batch_as(std::shared_ptr<row_source> from);
    template <class T, class Outcome>
    static asio::awaitable<Outcome> all_as(std::shared_ptr<row_source> from);
    template <class Outcome>
    static asio::awaitable<Outcome> run_as(std::shared_ptr<row_source> from);

    std::shared_ptr<row_source> source_;
};

template <class Metadata>
template <class T, class Outcome>
asio::awaitable<Outcome> basic_rows<Metadata>::next_as(std::shared_ptr<row_source> from)
{
    using found = std::optional<T>;
    auto row = from->take();
    if (!row) {
        auto more = co_await from->fetch();
        if (!more)
            co_return details::give<Outcome>(result<found>{std::move(more).error()});
        row = *more ? from->take() : std::nullopt;
        if (!row)
            co_return details::give<Outcome>(result<found>{found{}});
    }
    auto read = from->template read_as<T>(*row);
    if (!read)
        co_return details::give<Outcome>(result<found>{std::move(read).error()});
    co_return details::give<Outcome>(result<found>{found{*std::move(read)}});
}

template <class Metadata>
template <class Outcome>
asio::awaitable<Outcome> basic_rows<Metadata>::next_batch_as(std::shared_ptr<row_source> from)
{
    auto more = co_await from->fetch();
    co_return details::give<Outcome>(std::move(more));
}

template <class Metadata>
template <class T, class Outcome>
asio::awaitable<Outcome> basic_rows<Metadata>::all_as(std::shared_ptr<row_source> from)
{
    std::vector<T> found;
    for (;;) {
        for (const std::string_view row : row_batch{from.get()}) {
            auto read = from->template read_as<T>(row);
            if (!read)
                co_return details::give<Outcome>(result<std::vector<T>>{std::move(read).error()});
            found.push_back(*std::move(read));
        }
        auto more = co_await from->fetch();
        if (!more)
            co_return details::give<Outcome>(result<std::vector<T>>{std::move(more).error()});
        if (!*more)
            break;
    }
    co_return details::give<Outcome>(result<std::vector<T>>{std::move(found)});
}

template <class Metadata>
template <class Outcome>
asio::awaitable<Outcome> basic_rows<Metadata>::run_as(std::shared_ptr<row_source> from)
{
    for (;;) {
        for ([[maybe_unused]] const std::string_view row : row_batch{from.get()}) {}
        auto more = co_await from->fetch();
        if (!more)
            co_return details::give<Outcome>(result<Metadata>{std::move(more).error()});
        if (!*more)
            break;
    }
    co_return details::give<Outcome>(result<Metadata>{from->template metadata<Metadata>()});
}

/// Of the query and of the analytics service.
using query_rows = basic_rows<query_metadata>;
using search_rows = basic_rows<search_metadata>;
using view_rows = basic_rows<view_metadata>;

}  // namespace holdfast::couchbase
