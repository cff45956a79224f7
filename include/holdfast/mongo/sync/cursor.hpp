#pragma once
#include "holdfast/blocking.hpp"
#include "holdfast/mongo/cursor.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::mongo::sync {

/// The outcome of a query, fetched as it is read; the query is sent when the first document is
/// asked for. Not for two threads at a time. What is left of it on the server is given up when the
/// cursor goes.
///
///     for (bson::view one : accounts.find(gt("balance", 100)))
///         ...
///
/// See mongo::cursor. Its try_next, which asks the server at most once, is poll() here: names that
/// begin with try_ are of the forms that do not throw.
class cursor : blocking_handle<mongo::cursor> {
public:
    cursor(cursor&&) noexcept = default;
    cursor& operator=(cursor&& other) noexcept
    {
        if (this != &other) {
            give_up();
            blocking_handle::operator=(std::move(other));
        }
        return *this;
    }
    ~cursor() { give_up(); }

    /// The next document, or nothing at the end.
    template <class T = bson::document>
    std::optional<T> next()
    {
        return try_next<T>().value();
    }
    template <class T = bson::document>
    result<std::optional<T>> try_next()
    {
        return wait(inner_.template next<T>(asio::use_awaitable));
    }

    /// The same, but asks the server at most once: nothing may also mean that it has nothing yet.
    std::optional<bson::document> poll() { return try_poll().value(); }
    result<std::optional<bson::document>> try_poll()
    {
        return wait(inner_.try_next(asio::use_awaitable));
    }

    /// Fetches the next batch: false at the end. What batch() gave before is gone.
    bool next_batch() { return try_next_batch().value(); }
    result<bool> try_next_batch() { return wait(inner_.next_batch(asio::use_awaitable)); }
    mongo::batch_view batch() const noexcept { return inner_.batch(); }

    /// All that is left, in one go.
    template <class T = bson::document>
    std::vector<T> all()
    {
        return try_all<T>().value();
    }
    template <class T = bson::document>
    result<std::vector<T>> try_all()
    {
        return wait(inner_.template all<T>(asio::use_awaitable));
    }

    /// Gives up what has not been read. A cursor that was read to its end needs no close.
    void close() { try_close().value(); }
    result<void> try_close() { return wait(inner_.close(asio::use_awaitable)); }

    std::int64_t id() const noexcept { return inner_.id(); }
    bool is_open() const noexcept { return inner_.is_open(); }

    /// Goes through what has not been read, once. Each document is valid until the next one is
    /// asked for; `failure` is thrown where something goes wrong.
    class iterator {
    public:
        using value_type = bson::view;
        using difference_type = std::ptrdiff_t;

        iterator() = default;
        explicit iterator(cursor& of) : of_{&of} { fetch(); }
        bson::view operator*() const noexcept { return *at_; }
        iterator& operator++()
        {
            ++at_;
            if (at_ == std::default_sentinel)
                fetch();
            return *this;
        }
        void operator++(int) { ++*this; }
        friend bool operator==(const iterator& a, std::default_sentinel_t) noexcept
        {
            return a.of_ == nullptr;
        }

    private:
        /// The next batch with anything in it.
        void fetch()
        {
            while (of_->next_batch()) {
                if (const mongo::batch_view got = of_->batch(); !got.empty()) {
                    at_ = got.begin();
                    return;
                }
            }
            of_ = nullptr;
        }

        cursor* of_ = nullptr;  // null: the end
        mongo::batch_view::iterator at_;
    };
    iterator begin() { return iterator{*this}; }
    std::default_sentinel_t end() const noexcept { return {}; }

private:
    friend class collection;
    friend class database;

    cursor(std::shared_ptr<blocking_bridge> on, mongo::cursor inner)
        : blocking_handle{std::move(on), std::move(inner)}
    {
    }

    /// Here rather than by the client's own thread, which watches the servers.
    void give_up() noexcept
    {
        if (!bridge_ || inner_.id() == 0)
            return;
        try {
            (void)try_close();
        } catch (...) {
            // The server will forget it by itself.
        }
    }
};

}  // namespace holdfast::mongo::sync
