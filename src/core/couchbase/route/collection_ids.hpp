#pragma once
#include "holdfast/error.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace holdfast::core::couchbase {

inline constexpr std::size_t longest_collection_name = 251;
inline constexpr std::size_t max_collections = 65'536;         // entries of one bucket
inline constexpr std::size_t max_collection_waiters = 65'536;  // for one path

/// "scope.collection", as servers are asked for it. Fails with errc::invalid_argument if a name is
/// not one that a server would take.
result<std::string> collection_path(std::string_view scope, std::string_view collection);

enum class unknown_name : std::uint8_t { scope, collection };

/// A request that waits for an id. The numbers are the caller's own; later requests have larger
/// ones.
using waiter_id = std::uint64_t;

/// What a request has to do to get the id of its collection.
struct use_id {
    std::uint32_t id = 0;
    friend bool operator==(const use_id&, const use_id&) = default;
};
struct look_up {  // ask a server; all others wait for this request's report
    friend bool operator==(const look_up&, const look_up&) = default;
};
struct wait_for_look_up {
    friend bool operator==(const wait_for_look_up&, const wait_for_look_up&) = default;
};
struct name_is_unknown {
    unknown_name what = unknown_name::collection;
    friend bool operator==(const name_is_unknown&, const name_is_unknown&) = default;
};
/// The server that was asked has an older manifest than one that was seen elsewhere: it may not
/// have heard of the name yet.
struct server_is_behind {
    friend bool operator==(const server_is_behind&, const server_is_behind&) = default;
};
struct too_many_waiters {
    friend bool operator==(const too_many_waiters&, const too_many_waiters&) = default;
};
using collection_step = std::variant<use_id, look_up, wait_for_look_up, name_is_unknown,
                                     server_is_behind, too_many_waiters>;

/// The ids of one bucket's collections by their paths. For each path at most one request looks up
/// the id; the others wait, and ask again when they are notified.
///
/// That a name is unknown is an answer to those who waited for it, and no longer: the collection
/// may be created the moment after, and nothing announces that to every client.
class collection_ids {
public:
    collection_step ask(std::string_view path, waiter_id who);
    /// The id, if nothing has to be asked for.
    std::optional<std::uint32_t> known_id(std::string_view path) const noexcept;
    /// Changes whenever an id that was known may not be any more; never zero.
    std::uint64_t version() const noexcept { return version_; }

    // The reports of the request that was to look up. Each gives the waiters to be notified, in the
    // order in which they asked; all of them, and the reporting request itself, ask again.
    std::vector<waiter_id> found(std::string_view path, std::uint32_t id,
                                 std::uint64_t manifest_uid);
    std::vector<waiter_id> not_found(std::string_view path, unknown_name what,
                                     std::optional<std::uint64_t> manifest_uid);
    /// No server has answered, or the request was cancelled: the next one to ask looks up.
    std::vector<waiter_id> failed(std::string_view path);

    /// A waiter was cancelled. Not for the request that looks up: that one has failed().
    void forget(std::string_view path, waiter_id who);

    /// A server does not know the id with which it was sent a document operation. The id is dropped
    /// if it is still the one in use, unless the server's manifest is older than the one that the
    /// id is from: then the server is behind, and will learn of the collection. True: ask anew.
    bool outdated(std::string_view path, std::uint32_t used,
                  std::optional<std::uint64_t> server_manifest_uid);

    /// A newer manifest may have names that an older one had not.
    void manifest_seen(std::uint64_t uid) noexcept;

    /// The bucket was deleted and made again: no id is valid any more. Look-ups under way go on,
    /// and what they find is not kept.
    void bucket_recreated() noexcept;

    std::size_t size() const noexcept { return entries_.size(); }

private:
    struct known {
        std::uint32_t id = 0;
        std::uint64_t manifest_uid = 0;
    };
    struct looking_up {
        waiter_id by = 0;
        std::set<waiter_id> waiters = {};
    };
    struct unknown {
        unknown_name what = unknown_name::collection;
        std::uint64_t manifest_uid = 0;
        std::set<waiter_id> unread_by = {};  // the requests whose answer it is
    };
    /// Entries of an earlier generation are about a bucket that is no more.
    struct entry {
        std::variant<known, unknown, looking_up> state;
        std::uint64_t generation = 0;
    };
    struct path_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view path) const noexcept
        {
            return std::hash<std::string_view>{}(path);
        }
    };
    using entry_map = std::unordered_map<std::string, entry, path_hash, std::equal_to<>>;

    /// The answer of a settled entry; nothing if it is not to be used any more.
    std::optional<collection_step> answer_of(entry& settled, waiter_id who) const;
    bool make_capacity();
    /// Ends a look-up: with an answer to keep, or without. Gives its waiters.
    std::vector<waiter_id> settle(std::string_view path,
                                  std::optional<std::variant<known, unknown>> with);

    entry_map entries_;
    std::uint64_t newest_manifest_ = 0;
    std::uint64_t generation_ = 0;
    std::uint64_t version_ = 1;
};

}  // namespace holdfast::core::couchbase
