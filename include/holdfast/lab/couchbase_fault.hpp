#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab {

/// A reply of HTTP.
struct couchbase_answer {
    std::uint16_t status = 200;
    std::string body = {};
    std::string content_type = "application/json";
    std::vector<std::string> headers = {};  // "Retry-After: 1"
};

/// A request of HTTP; the views are valid during the call.
struct couchbase_request {
    std::size_t node = 0;
    std::string_view method;
    std::string_view path;   // without the query
    std::string_view query;  // "limit=10&skip=5"
    std::string_view body;
};

/// What nodes of the lab do to some requests: which, how often, and what happens to them. With a
/// status, or if the connection is closed, a request is not carried out; with all other effects it
/// is, and its client cannot know.
struct couchbase_fault {
    // Which requests. All that is set must fit.
    std::vector<std::size_t> nodes = {};  // empty: all, also those that come later
    std::vector<std::string> operations = {};  // "get", "sasl_auth", "0xbb"; empty: all
    std::string bucket = {};  // the selected one
    std::string key_prefix = {};  // of the document; of select_bucket the bucket's name
    std::uint64_t connection = 0;  // counted from 1 on each node; 0: all
    /// One of the two not empty: requests of HTTP instead, of a service ("management", "query",
    /// "analytics", "search", "views"), by the begin of their path ("/pools"), by method, and by a
    /// text in their body.
    std::string service = {};
    std::string path_prefix = {};
    std::string method = {};
    std::string contains = {};

    // How often: of all that fit, on all nodes together.
    std::int64_t skip = 0;
    std::optional<std::int64_t> times = {};  // none: always
    double probability = 1;

    // What happens.
    std::optional<std::uint16_t> status = {};  // instead of an answer; of HTTP, too
    std::string body = {};  // of the reply with a status
    /// Of HTTP, one after the other; each once, or the last until it has happened `times` times.
    std::vector<couchbase_answer> answers = {};
    /// Of HTTP, instead of them; in C++ only. It must not call the cluster.
    std::function<couchbase_answer(const couchbase_request&)> generate = {};
    std::size_t chunk_size = 0;  // not 0: the reply of HTTP is in chunks of so many bytes
    // Of the query and analytics services, in a reply that is otherwise theirs:
    std::int32_t error_code = 0;  // not 0: there is an error with this number
    std::string error_text = {};  // and this message; empty: the usual one
    std::optional<bool> retry = {};  // its member "retry"
    std::optional<std::size_t> after_rows = {};  // when it comes; none: the request does not run
    std::optional<std::size_t> cut_after_rows = {};  // closed after so many rows
    std::string split = {};  // "utf8", "escape": parts end inside of each such sequence
    bool close_connection = false;  // before the request is carried out
    std::optional<std::size_t> cut_reply_at = {};  // closed after so many bytes of the reply
    bool silent = false;  // there is no reply
    int replies = 1;  // how often the same one is sent
    std::chrono::milliseconds delay{0};  // holds back all that follows, too
    std::chrono::milliseconds delay_up_to{0};  // more than `delay`: drawn between the two
    std::chrono::milliseconds reply_delay{0};  // of this reply alone; others overtake it
    std::size_t overtaken_by = 0;  // so many later replies are sent before this one
    bool foreign_opaque = false;  // the reply is to a request that was never made
    std::optional<std::string> value = {};  // of the reply, instead of the real one
    /// "wrong_magic", "huge_body", "long_key", "bad_framing" or "unknown_datatype".
    std::string damage = {};
    bool stop_reading = false;  // nothing more is read from the connection, which stays open
};

}  // namespace holdfast::lab
