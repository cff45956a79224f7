#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/data/session_table.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::mongo {

/// Where a cursor's documents come from. A call gives the next one, or null: no more for now. The
/// view is valid until the next call or write.
class document_source {
public:
    virtual ~document_source() = default;
    virtual result<std::optional<bson::view>> next() = 0;
    virtual bool tailable() const noexcept { return false; }
    /// Called before each batch: what it read from may have been dropped since the last one.
    virtual result<void> refresh() { return {}; }
    /// True if it is known already that there will be no more.
    virtual bool ended() const noexcept { return false; }
};

struct cursor {
    std::int64_t id = 0;
    std::string ns = {};
    std::unique_ptr<document_source> from = {};
    std::optional<bson::document> put_back = {};  // read, but the batch was full
    std::optional<session_key> session = {};
    bool tailable = false;
    bool await_data = false;
    bool no_timeout = false;
    std::int64_t connection = 0;  // that made it
    bson::document origin = {};  // the command that made it, without its documents
    time_point used{};
};

/// The open cursors of a node. Their number is limited, and those that were not used for ten
/// minutes are forgotten, when others are made.
class cursor_table {
public:
    static constexpr std::size_t limit = 10'000;
    static constexpr auto kept_unused = std::chrono::minutes{10};

    /// The id is drawn by the caller: unpredictable in the world, the same by seed in a simulation.
    result<cursor*> add(cursor made);
    cursor* find(std::int64_t id);
    bool remove(std::int64_t id);
    void remove_of(const session_key& session);
    void remove_on(std::string_view ns);  // the collection is gone
    void remove_of_connection(std::int64_t connection);
    void forget_unused_since(time_point when);
    void clear();
    std::size_t size() const noexcept { return cursors_.size(); }

private:
    std::map<std::int64_t, cursor> cursors_;
    time_point next_look_ = time_point::min();  // for those that are not used
};

}  // namespace holdfast::lab::mongo
