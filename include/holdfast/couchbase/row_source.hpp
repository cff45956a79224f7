#pragma once
#include "holdfast/couchbase/service_metadata.hpp"
#include "holdfast/error.hpp"
#include "holdfast/json/mapping.hpp"
#include "holdfast/json/raw_json.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <concepts>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <variant>

namespace holdfast::couchbase {

/// Where the rows of one request come from: what `basic_rows` is a handle of. Not for applications.
class row_source {
public:
    using metadata_type = std::variant<query_metadata, search_metadata, view_metadata>;

    row_source() = default;
    row_source(const row_source&) = delete;
    row_source& operator=(const row_source&) = delete;
    virtual ~row_source() = default;

    /// A row that is at hand, which is handed out with this; valid until the next call.
    virtual std::optional<std::string_view> take() = 0;
    /// Sends the request, or reads on, until a row is at hand: false at the end.
    virtual boost::asio::awaitable<result<bool>> fetch() = 0;
    /// Gives up what has not been read.
    virtual void close() noexcept = 0;
    virtual boost::asio::any_io_executor executor() const noexcept = 0;

    template <class Metadata>
    const Metadata& metadata() const noexcept
    {
        return *std::get_if<Metadata>(&metadata_);
    }

    /// The row that was taken last, as the type that was asked for.
    template <class T>
    result<T> read_as(std::string_view row) const
    {
        if constexpr (std::same_as<T, raw_json>) {
            return raw_json{row};
        } else {
            auto read = json::from_json<T>(row);
            if (!read) [[unlikely]]
                return unreadable(std::move(read).error(), typeid(T));
            return read;
        }
    }

protected:
    metadata_type metadata_;

private:
    /// The error of a row that is not what it was to be read as.
    virtual error unreadable(error why, const std::type_info& as) const = 0;
};

/// The rows that are at hand, each valid until the next one is asked for. To be gone through once:
/// rows are taken out of the reply as they are passed.
class row_batch {
public:
    class iterator {
    public:
        using value_type = std::string_view;
        using difference_type = std::ptrdiff_t;

        iterator() = default;
        explicit iterator(row_source* of) : of_{of} { ++*this; }
        std::string_view operator*() const noexcept { return *row_; }
        iterator& operator++()
        {
            row_ = of_ != nullptr ? of_->take() : std::nullopt;
            return *this;
        }
        void operator++(int) { ++*this; }
        friend bool operator==(const iterator& a, std::default_sentinel_t) noexcept
        {
            return !a.row_;
        }

    private:
        row_source* of_ = nullptr;
        std::optional<std::string_view> row_;
    };

    row_batch() = default;
    explicit row_batch(row_source* of) noexcept : of_{of} {}

    iterator begin() const { return iterator{of_}; }
    std::default_sentinel_t end() const noexcept { return {}; }

private:
    row_source* of_ = nullptr;
};

}  // namespace holdfast::couchbase
