#pragma once
#include "holdfast/couchbase/content.hpp"
#include "holdfast/couchbase/document.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "holdfast/couchbase/subdoc_path.hpp"
#include "holdfast/error.hpp"
#include "holdfast/json/mapping.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Parts of documents: what to read or change of them, and what came of it.
///
///     const auto paths = cb::lookup(cb::get("name"), cb::exists("iata"), cb::count("routes"));
///     const auto parts = co_await airlines.lookup_in("airline_1", paths);
///     const auto name = parts.as<std::string>(0);
///
///     const auto edit = cb::changes(cb::upsert("hub", "AMS"), cb::increment("fleet", 5));
///     co_await airlines.mutate_in("airline_1", edit);
namespace holdfast::couchbase {

/// As many as one request may have.
inline constexpr std::size_t max_subdoc_paths = 16;

/// The paths of one lookup_in.
class lookup {
public:
    template <std::same_as<lookup_path>... Paths>
    explicit lookup(Paths... paths)
    {
        paths_.reserve(sizeof...(Paths));
        (paths_.push_back(std::move(paths)), ...);
    }
    lookup& add(lookup_path path)
    {
        paths_.push_back(std::move(path));
        return *this;
    }
    const std::vector<lookup_path>& paths() const noexcept { return paths_; }

private:
    std::vector<lookup_path> paths_;
};

/// The changes of one mutate_in: all of them are made, or none.
class changes {
public:
    template <std::same_as<path_change>... Changes>
    explicit changes(Changes... all)
    {
        all_.reserve(sizeof...(Changes));
        (all_.push_back(std::move(all)), ...);
    }
    changes& add(path_change change)
    {
        all_.push_back(std::move(change));
        return *this;
    }
    const std::vector<path_change>& all() const noexcept { return all_; }

private:
    std::vector<path_change> all_;
};

/// What became of one path.
struct path_result {
    std::string path = {};
    error_code code = {};      // success, or errc::path_not_found and the like
    std::string content = {};  // JSON; nothing for exists
    bool only_exists = false;  // the path was asked for by exists
};

namespace details {

error path_failure(const path_result& one);
error no_such_path(std::size_t n, std::size_t count);

template <class T>
result<T> path_as(const std::vector<path_result>& all, std::size_t n)
{
    if (n >= all.size())
        return no_such_path(n, all.size());
    const path_result& one = all[n];
    if constexpr (std::same_as<T, bool>) {
        if (one.only_exists && (!one.code || one.code == errc::path_not_found))
            return !one.code;
    }
    if (one.code)
        return path_failure(one);
    if constexpr (std::same_as<T, raw_json>) {
        return raw_json{one.content};
    } else if constexpr (std::same_as<T, raw_bytes>) {
        return raw_bytes{std::vector<std::uint8_t>(one.content.begin(), one.content.end())};
    } else {
        auto read = json::from_json<T>(one.content);
        if (!read)
            return not_decoded(bson::inside(std::move(read).error(), one.path));
        return read;
    }
}

}  // namespace details

/// The answer to lookup_in. Paths are counted from 0, in the order in which they were asked for.
class lookup_result {
public:
    lookup_result() = default;
    lookup_result(std::vector<path_result> paths, couchbase::cas cas, bool is_deleted) noexcept
        : paths_{std::move(paths)}, cas_{cas}, is_deleted_{is_deleted}
    {
    }

    couchbase::cas cas() const noexcept { return cas_; }
    bool is_deleted() const noexcept { return is_deleted_; }  // if it was asked for with that
    std::size_t size() const noexcept { return paths_.size(); }

    /// Whether the path is there. False also for one that could not be looked up: see code().
    bool exists(std::size_t n) const noexcept { return n < paths_.size() && !paths_[n].code; }
    error_code code(std::size_t n) const noexcept
    {
        return n < paths_.size() ? paths_[n].code : make_error_code(errc::invalid_argument);
    }
    /// The JSON that was found, or nothing.
    std::string_view content(std::size_t n) const noexcept
    {
        return n < paths_.size() ? std::string_view{paths_[n].content} : std::string_view{};
    }
    /// What was found, as a T; throws `failure` if it was not, or is something else.
    template <class T>
    T as(std::size_t n) const
    {
        return try_as<T>(n).value();
    }
    template <class T>
    result<T> try_as(std::size_t n) const
    {
        return details::path_as<T>(paths_, n);
    }

private:
    std::vector<path_result> paths_;
    couchbase::cas cas_ = {};
    bool is_deleted_ = false;
};

/// The answer to mutate_in. Only counters have a content: their new values.
class mutate_result {
public:
    mutate_result() = default;
    mutate_result(mutation_result change, std::vector<path_result> paths, bool is_deleted) noexcept
        : change_{std::move(change)}, paths_{std::move(paths)}, is_deleted_{is_deleted}
    {
    }

    couchbase::cas cas() const noexcept { return change_.cas; }
    const std::optional<mutation_token>& token() const noexcept { return change_.token; }
    const mutation_result& change() const noexcept { return change_; }  // for a mutation_state
    bool is_deleted() const noexcept { return is_deleted_; }
    std::size_t size() const noexcept { return paths_.size(); }
    std::string_view content(std::size_t n) const noexcept
    {
        return n < paths_.size() ? std::string_view{paths_[n].content} : std::string_view{};
    }
    template <class T>
    T as(std::size_t n) const
    {
        return try_as<T>(n).value();
    }
    template <class T>
    result<T> try_as(std::size_t n) const
    {
        return details::path_as<T>(paths_, n);
    }

private:
    mutation_result change_;
    std::vector<path_result> paths_;
    bool is_deleted_ = false;
};

/// The answer to lookup_in_any_replica and lookup_in_all_replicas.
struct replica_lookup_result : lookup_result {
    replica_lookup_result() = default;
    replica_lookup_result(lookup_result of, bool from_replica) noexcept
        : lookup_result{std::move(of)}, is_replica{from_replica}
    {
    }
    bool is_replica = false;  // false: the active copy
};

}  // namespace holdfast::couchbase
