#pragma once
#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::couchbase {

/// The version of a document: it changes with every change of the document. Zero is no version.
struct cas {
    std::uint64_t value = 0;

    explicit operator bool() const noexcept { return value != 0; }
    friend bool operator==(cas, cas) = default;
};

/// How many copies must have a change before it is acknowledged. A change that cannot be made so
/// safe is not made.
enum class durability : std::uint8_t {
    none,                            // the active copy, in memory
    majority,                        // most copies, in memory
    majority_and_persist_to_active,  // and the active one on disk
    persist_to_majority,             // most copies, on disk
};

/// When a document ceases to exist. Nothing said, it never does.
class expiry {
public:
    using seconds = std::chrono::seconds;
    using time = std::chrono::sys_seconds;

    constexpr expiry() = default;

    /// After this time. What is less than a second is rounded up.
    template <class Rep, class Period>
    static constexpr expiry in(std::chrono::duration<Rep, Period> span)
    {
        return {kind::relative, std::chrono::ceil<seconds>(span)};
    }
    /// At this time.
    static constexpr expiry at(time when) { return {kind::absolute, when.time_since_epoch()}; }
    static constexpr expiry never() { return {}; }

    constexpr bool is_never() const noexcept { return kind_ == kind::never; }
    constexpr std::optional<seconds> span() const noexcept
    {
        return kind_ == kind::relative ? std::optional{count_} : std::nullopt;
    }
    constexpr std::optional<time> point() const noexcept
    {
        return kind_ == kind::absolute ? std::optional{time{count_}} : std::nullopt;
    }

    friend constexpr bool operator==(const expiry&, const expiry&) = default;

private:
    enum class kind : std::uint8_t { never, relative, absolute };

    constexpr expiry(kind which, seconds count) noexcept : kind_{which}, count_{count} {}

    kind kind_ = kind::never;
    seconds count_{0};
};

/// A change among all changes of a bucket. Queries can be asked to have seen it.
struct mutation_token {
    std::uint64_t vbucket_uuid = 0;
    std::uint64_t sequence_number = 0;
    std::uint16_t vbucket = 0;
    std::string bucket = {};

    friend bool operator==(const mutation_token&, const mutation_token&) = default;
};

/// The answer to a change.
struct mutation_result {
    couchbase::cas cas = {};
    std::optional<mutation_token> token = {};  // empty if tokens were switched off
};

/// The answer to increment and decrement.
struct counter_result {
    std::uint64_t value = 0;
    couchbase::cas cas = {};
    std::optional<mutation_token> token = {};
};

/// The answer to exists.
struct exists_result {
    bool exists = false;
    couchbase::cas cas = {};

    explicit operator bool() const noexcept { return exists; }
};

/// A document, and what the server knows of it.
template <class T>
struct document {
    T content = {};
    couchbase::cas cas = {};
    std::uint32_t flags = 0;  // the format of the content, as it was written
    std::optional<std::chrono::sys_seconds> expiry = {};  // if it was asked for, and there is one
};

/// A document as one of its copies has it, which may be old.
template <class T>
struct replica_document {
    T content = {};
    couchbase::cas cas = {};
    std::uint32_t flags = 0;
    bool is_replica = false;  // false: the active copy
};

/// The changes that a query must have seen: the last one of each vbucket.
class mutation_state {
public:
    void add(const mutation_token& token)
    {
        for (mutation_token& known : tokens_) {
            if (known.vbucket == token.vbucket && known.bucket == token.bucket) {
                // Another uuid is another history of the vbucket: the later call knows better.
                if (known.vbucket_uuid != token.vbucket_uuid ||
                    known.sequence_number < token.sequence_number)
                    known = token;
                return;
            }
        }
        tokens_.push_back(token);
    }
    void add(const mutation_result& result)
    {
        if (result.token)
            add(*result.token);
    }
    void add(const counter_result& result)
    {
        if (result.token)
            add(*result.token);
    }
    void add(const mutation_state& others)
    {
        for (const mutation_token& token : others.tokens_)
            add(token);
    }

    std::span<const mutation_token> tokens() const noexcept { return tokens_; }
    bool empty() const noexcept { return tokens_.empty(); }

private:
    std::vector<mutation_token> tokens_;  // at most one for each vbucket
};

}  // namespace holdfast::couchbase
