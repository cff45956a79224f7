#pragma once
#include "holdfast/blocking.hpp"
#include "holdfast/couchbase/rows.hpp"

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::couchbase::sync {

/// The rows of a query, which is sent when the first one is asked for. Not for two threads at a
/// time. What has not been read when they go is given up.
///
///     for (const airline& one : db.query("SELECT a.* FROM airline AS a").as<airline>())
///         ...
///
/// See couchbase::basic_rows.
template <class Metadata>
class basic_rows : blocking_handle<couchbase::basic_rows<Metadata>> {
    using base = blocking_handle<couchbase::basic_rows<Metadata>>;
    using base::bridge_;
    using base::inner_;

public:
    using row_type = typename couchbase::basic_rows<Metadata>::row_type;

    /// The next row, or nothing at the end.
    template <class T = row_type>
    std::optional<T> next()
    {
        return try_next<T>().value();
    }
    template <class T = row_type>
    result<std::optional<T>> try_next()
    {
        using found = std::optional<T>;
        row_source& from = *inner_.source_;
        auto row = from.take();
        if (!row) {
            auto more = try_next_batch();
            if (!more)
                return std::move(more).error();
            row = from.take();
            if (!row)
                return found{};
        }
        auto read = from.template read_as<T>(*row);
        if (!read)
            return std::move(read).error();
        return found{*std::move(read)};
    }

    /// Reads on until there are rows: false at the end.
    bool next_batch() { return try_next_batch().value(); }
    result<bool> try_next_batch() { return this->wait(inner_.source_->fetch()); }
    row_batch batch() const noexcept { return inner_.batch(); }

    /// All rows that are left, in one go.
    template <class T = row_type>
    std::vector<T> all()
    {
        return try_all<T>().value();
    }
    template <class T = row_type>
    result<std::vector<T>> try_all()
    {
        return this->wait(inner_.template all<T>(asio::use_awaitable));
    }

    /// Reads to the end without a look at the rows.
    Metadata run() { return try_run().value(); }
    result<Metadata> try_run() { return this->wait(inner_.run(asio::use_awaitable)); }

    const Metadata& metadata() const noexcept { return inner_.metadata(); }
    void close() noexcept { inner_.close(); }

    /// The rows that are left as values of T, to be gone through once: each is valid until the next
    /// one. `failure` is thrown where something goes wrong.
    template <class T>
    class range {
    public:
        class iterator {
        public:
            using value_type = T;
            using difference_type = std::ptrdiff_t;

            iterator() = default;
            explicit iterator(range* of) : of_{of} { ++*this; }
            T& operator*() const noexcept { return *of_->row_; }
            T* operator->() const noexcept { return &*of_->row_; }
            iterator& operator++()
            {
                of_->row_ = of_->from_.template next<T>();
                return *this;
            }
            void operator++(int) { ++*this; }
            bool operator==(std::default_sentinel_t) const noexcept
            {
                return of_ == nullptr || !of_->row_;
            }

        private:
            range* of_ = nullptr;
        };

        iterator begin() { return iterator{this}; }
        std::default_sentinel_t end() const noexcept { return {}; }

    private:
        friend class basic_rows;

        explicit range(basic_rows from) : from_{std::move(from)} {}

        basic_rows from_;
        std::optional<T> row_;
    };
    template <class T = row_type>
    range<T> as() const
    {
        return range<T>{*this};
    }

private:
    friend class cluster;
    friend class bucket;
    friend class scope;

    basic_rows(std::shared_ptr<blocking_bridge> on, couchbase::basic_rows<Metadata> inner)
        : base{std::move(on), std::move(inner)}
    {
    }
};

using query_rows = basic_rows<query_metadata>;
using search_rows = basic_rows<search_metadata>;
using view_rows = basic_rows<view_metadata>;

}  // namespace holdfast::couchbase::sync
