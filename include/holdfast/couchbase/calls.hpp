#pragma once
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/couchbase/content.hpp"
#include "holdfast/couchbase/document.hpp"
#include "holdfast/couchbase/kv_options.hpp"
#include "holdfast/couchbase/subdoc.hpp"
#include "holdfast/error.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

/// The calls of a collection as values, from which the library makes requests. Each has the type of
/// its outcome, its options, and views of the caller's arguments, which are copied when it starts.
namespace holdfast::couchbase::calls {

/// Memory for content, of a document that was stored before.
bson::byte_buffer spare_buffer() noexcept;

/// Content as it was stored; the collection makes the caller's type of it.
struct get {
    using value_type = document<encoded_content>;
    std::string_view id;
    get_options options;
};

/// The most frequent kind of get, whose content needs no decoding.
struct get_raw_json {
    using value_type = document<raw_json>;
    std::string_view id;
    get_options options;
};

/// A get that needs more than one part of a document, or its expiry.
struct get_projected {
    using value_type = document<encoded_content>;
    std::string_view id;
    get_options options;
};

/// Absence is a value.
struct get_if {
    using value_type = std::optional<document<encoded_content>>;
    std::string_view id;
    get_options options;
};

struct get_if_projected {
    using value_type = std::optional<document<encoded_content>>;
    std::string_view id;
    get_options options;
};

struct get_and_touch {
    using value_type = document<encoded_content>;
    std::string_view id;
    couchbase::expiry expiry;
    key_options options;
};

struct get_and_lock {
    using value_type = document<encoded_content>;
    std::string_view id;
    std::chrono::milliseconds time;
    key_options options;
};

struct unlock {
    using value_type = void;
    std::string_view id;
    couchbase::cas cas;
    key_options options;
};

struct exists {
    using value_type = exists_result;
    std::string_view id;
    key_options options;
};

struct touch {
    using value_type = mutation_result;
    std::string_view id;
    couchbase::expiry expiry;
    key_options options;
};

struct get_any_replica {
    using value_type = replica_document<encoded_content>;
    std::string_view id;
    replica_options options;
};

struct get_all_replicas {
    using value_type = std::vector<replica_document<encoded_content>>;
    std::string_view id;
    replica_options options;
};

/// Content that is on its way to the server.
struct new_content {
    bson::byte_buffer bytes = {};
    std::uint32_t flags = 0;
    std::optional<error> problem = {};  // it could not be encoded

    template <class T>
    static new_content of(const T& value)
    {
        new_content made{spare_buffer()};
        if (auto flags = encode_content(made.bytes, value))
            made.flags = *flags;
        else
            made.problem = std::move(flags).error();
        return made;
    }
};

struct upsert {
    using value_type = mutation_result;
    std::string_view id;
    new_content content;
    upsert_options options;
};

struct insert {
    using value_type = mutation_result;
    std::string_view id;
    new_content content;
    insert_options options;
};

struct replace {
    using value_type = mutation_result;
    std::string_view id;
    new_content content;
    replace_options options;
};

struct remove {
    using value_type = mutation_result;
    std::string_view id;
    remove_options options;
};

struct append {
    using value_type = mutation_result;
    std::string_view id;
    byte_view bytes;
    append_options options;
};

struct prepend {
    using value_type = mutation_result;
    std::string_view id;
    byte_view bytes;
    append_options options;
};

struct increment {
    using value_type = counter_result;
    std::string_view id;
    counter_options options;
};

struct decrement {
    using value_type = counter_result;
    std::string_view id;
    counter_options options;
};

struct lookup_in {
    using value_type = lookup_result;
    std::string_view id;
    const lookup* paths;
    lookup_in_options options;
};

struct lookup_in_any_replica {
    using value_type = replica_lookup_result;
    std::string_view id;
    const lookup* paths;
    replica_options options;
};

struct lookup_in_all_replicas {
    using value_type = std::vector<replica_lookup_result>;
    std::string_view id;
    const lookup* paths;
    replica_options options;
};

struct mutate_in {
    using value_type = mutate_result;
    std::string_view id;
    const changes* what;
    mutate_in_options options;
};

}  // namespace holdfast::couchbase::calls
