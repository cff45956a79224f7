#pragma once
#include "holdfast/error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What clients asked for in a storm, what was reported to them, and what was found afterwards.
/// Values only: judge() compares the two.
namespace holdfast::drill {

enum class action : std::uint8_t {
    insert_one,
    insert_many,
    update_one,           // counts and signs a page of the client's ledger
    find_one_and_update,  // counts and signs a page that all clients share
    bulk_write,           // an insert and a page of the ledger
    delete_one,           // of a document that is known to be there
    increment,            // of a counter that all clients share
    compare_and_swap,     // signs a page that all clients share, if it is as it was read
    upsert,               // of a record of the client's own
    get,                  // of such a record
};
inline constexpr std::size_t actions = 10;
std::string_view name_of(action what) noexcept;

/// What a client knows of its write.
enum class fate : std::uint8_t {
    running,       // nothing was reported yet
    acknowledged,  // a majority has it, if that was asked for
    failed,        // it was not applied
    unclear,       // it may have been applied
};

/// Names one effect of one write: no other effect ever has the same.
using token = std::int64_t;

struct operation {
    action what = action::insert_one;
    std::size_t client = 0;
    std::size_t scenario = 0;
    fate end = fate::running;
    std::size_t completions = 0;

    std::vector<token> inserted = {};  // documents that carry them
    std::optional<token> removed = {};  // the document that carries it
    bool found_nothing = false;  // reported when it first asked for that
    std::optional<token> signature = {};  // in the page, where it also counts 1
    std::string page = {};
    std::string counter = {};  // counts 1 there
    /// What the count of the page or the counter was, with this write.
    std::optional<std::int64_t> reported_count = {};
    std::string record = {};  // whose one value the write replaces, or the operation reads
    std::optional<token> stored = {};  // there
    std::optional<token> read = {};    // from there
    /// False: only one server must have it, so a failover may lose it.
    bool durable = true;
    std::string reply_defect = {};  // why the reply cannot be true, whatever is found in the end
    /// Of a write that was done in part, where more is known of a part than of the whole.
    std::optional<fate> end_of_inserts = {};
    std::optional<fate> end_of_signature = {};

    time_point began{};
    time_point ended{};
    std::optional<time_point> deadline = {};  // when it has to be over
    std::string reason = {};  // of a failed or unclear one; the same text for the same cause
};

/// A page of a ledger: each write adds 1 and its signature.
struct page {
    std::int64_t count = 0;
    std::vector<token> signatures = {};
};

/// What is there when the storm is over.
struct found_state {
    std::map<token, std::size_t> documents = {};  // how many documents carry it
    std::map<std::string, page, std::less<>> pages = {};
    std::map<std::string, std::int64_t, std::less<>> counters = {};
    std::map<std::string, token, std::less<>> records = {};
    // What has been done to the servers.
    bool replicas_promoted = false;  // what only the lost server had is gone
    bool stale_reads = false;        // a server that was replaced has not noticed
};

}  // namespace holdfast::drill
