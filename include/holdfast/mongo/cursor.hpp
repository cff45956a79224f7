#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/mapping.hpp"
#include "holdfast/completion.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

namespace holdfast::mongo {

struct access;

namespace details {

/// `From` has the namespace that the document comes from: a collection or a cursor.
template <class T, class Outcome, class From>
asio::awaitable<Outcome> mapped(asio::awaitable<result<std::optional<bson::document>>> what,
                                From from);

}  // namespace details

/// The documents that a server has sent together. Valid until the cursor fetches the next ones.
class batch_view {
public:
    class iterator {
    public:
        using value_type = bson::view;
        using difference_type = std::ptrdiff_t;

        iterator() = default;
        /// Each element is known to be a document.
        explicit iterator(bson::array_view of) noexcept
            : at_{of.bytes().data() + 4}, end_{of.bytes().data() + of.bytes().size() - 1}
        {
            enter();
        }
        bson::view operator*() const noexcept { return bson::view::trusted(at_); }
        iterator& operator++() noexcept
        {
            at_ += bson::load<std::uint32_t>(at_);
            enter();
            return *this;
        }
        iterator operator++(int) noexcept
        {
            auto before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const iterator& a, std::default_sentinel_t) noexcept
        {
            return a.at_ == a.end_;
        }
        friend bool operator==(const iterator&, const iterator&) = default;

    private:
        /// From where an element begins to its document, if there is one.
        void enter() noexcept
        {
            if (at_ != end_)
                at_ += 1 + bson::layout::key_size(at_ + 1, end_) + 1;
        }

        const std::uint8_t* at_ = nullptr;
        const std::uint8_t* end_ = nullptr;
    };

    batch_view() = default;
    /// From here to the end.
    explicit batch_view(iterator first) noexcept : first_{first} {}

    iterator begin() const noexcept { return first_; }
    std::default_sentinel_t end() const noexcept { return {}; }
    bool empty() const noexcept { return first_ == end(); }

private:
    iterator first_;
};

/// The outcome of a query, fetched as it is read. Made by find(), aggregate() and others, which do
/// nothing yet: the query is sent when the first document is asked for. Not for two threads or
/// coroutines at a time. What is left of it on the server is given up when the cursor goes.
///
///     auto found = accounts.find(gt("balance", 100));
///     for (;;) {
///         const auto one = co_await found.next();
///         if (!one)
///             break;
///         ...
///     }
///
/// Or, with the least cost for many documents:
///
///     for (bool more = co_await found.next_batch(); more; more = co_await found.next_batch())
///         for (bson::view one : found.batch())
///             ...
///
/// A tailable cursor gives nothing when there is nothing at the moment; it has ended if is_open()
/// is false.
///
/// Behind a load balancer a cursor that the server has open keeps a connection for itself, and
/// keeps it after an error, too, until close() or its own end.
class cursor {
public:
    /// The next document, or nothing at the end.
    template <class T = bson::document, class Token = throw_on_error>
    auto next(Token&& token = {})
    {
        using found = std::optional<T>;
        using outcome = completion_result_t<found, Token>;
        if constexpr (std::same_as<T, bson::document>)
            return initiate(executor(), next_as<outcome>(false), std::forward<Token>(token));
        else
            return initiate(executor(),
                            details::mapped<T, outcome>(
                                next_as<result<std::optional<bson::document>>>(false), *this),
                            std::forward<Token>(token));
    }

    /// The same, but asks the server at most once: nothing may also mean that it has nothing yet.
    template <class Token = throw_on_error>
    auto try_next(Token&& token = {})
    {
        using outcome = completion_result_t<std::optional<bson::document>, Token>;
        return initiate(executor(), next_as<outcome>(true), std::forward<Token>(token));
    }

    /// Fetches the next batch: false at the end. What batch() gave before is gone. If next() has
    /// left some documents of a batch, these come first.
    template <class Token = throw_on_error>
    auto next_batch(Token&& token = {})
    {
        return initiate(executor(), next_batch_as<completion_result_t<bool, Token>>(),
                        std::forward<Token>(token));
    }
    batch_view batch() const noexcept;

    /// All that is left, in one go.
    template <class T = bson::document, class Token = throw_on_error>
    auto all(Token&& token = {})
    {
        using outcome = completion_result_t<std::vector<T>, Token>;
        return initiate(executor(), all_as<T, outcome>(*this), std::forward<Token>(token));
    }

    /// Gives up what has not been read. A cursor that was read to its end needs no close.
    template <class Token = throw_on_error>
    auto close(Token&& token = {})
    {
        return initiate(executor(), close_as<completion_result_t<void, Token>>(),
                        std::forward<Token>(token));
    }

    /// What the server knows it by: 0 before the first batch, and when the server has no more.
    std::int64_t id() const noexcept;
    bool is_open() const noexcept;  // there may be more, here or on the server
    asio::any_io_executor executor() const noexcept;
    /// "database.collection", once the first batch has come.
    std::string namespace_name() const;

private:
    friend struct access;
    class impl;

    explicit cursor(std::shared_ptr<impl> made) noexcept : impl_{std::move(made)} {}

    template <class Outcome>
    asio::awaitable<Outcome> next_as(bool once);
    template <class Outcome>
    asio::awaitable<Outcome> next_batch_as();
    template <class Outcome>
    asio::awaitable<Outcome> close_as();

    template <class T, class Outcome>
    static asio::awaitable<Outcome> all_as(cursor from);

    std::shared_ptr<impl> impl_;
};

namespace details {

/// The error of a document that is not what it was to be read as: names the type, the namespace and
/// the document's _id.
error unreadable(error why, const std::type_info& as, bson::view document, std::string space);

/// A document as the type that was asked for. `From` has its namespace.
template <class T, class From>
result<T> read_as(bson::view document, const From& from)
{
    if constexpr (std::same_as<T, bson::document>) {
        return bson::document{document};
    } else {
        auto read = bson::from_bson<T>(document);
        if (!read) [[unlikely]]
            return unreadable(std::move(read).error(), typeid(T), document, from.namespace_name());
        return read;
    }
}

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

namespace details {

/// A document that may have been found, as the type that was asked for.
template <class T, class Outcome, class From>
asio::awaitable<Outcome> mapped(asio::awaitable<result<std::optional<bson::document>>> what,
                                From from)
{
    using found = std::optional<T>;
    auto one = co_await std::move(what);
    if (!one)
        co_return details::give<Outcome>(result<found>{std::move(one).error()});
    if (!*one)
        co_return details::give<Outcome>(result<found>{found{}});
    auto read = details::read_as<T>((*one)->view(), from);
    if (!read)
        co_return details::give<Outcome>(result<found>{std::move(read).error()});
    co_return details::give<Outcome>(result<found>{found{*std::move(read)}});
}

}  // namespace details

template <class T, class Outcome>
asio::awaitable<Outcome> cursor::all_as(cursor from)
{
    std::vector<T> found;
    for (;;) {
        auto more = co_await from.next_batch_as<result<bool>>();
        if (!more) {
            if (from.id() != 0)  // as behind a load balancer: not read any further
                (void)co_await from.close_as<result<void>>();
            co_return details::give<Outcome>(result<std::vector<T>>{std::move(more).error()});
        }
        if (!*more)
            break;
        for (const bson::view one : from.batch()) {
            auto read = details::read_as<T>(one, from);
            if (!read)
                co_return details::give<Outcome>(result<std::vector<T>>{std::move(read).error()});
            found.push_back(*std::move(read));
        }
    }
    co_return details::give<Outcome>(result<std::vector<T>>{std::move(found)});
}

}  // namespace holdfast::mongo
