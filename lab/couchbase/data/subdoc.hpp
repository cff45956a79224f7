#pragma once
#include "lab/couchbase/data/operations.hpp"
#include "lab/couchbase/data/status.hpp"
#include "lab/couchbase/data/subdoc_edit.hpp"
#include "lab/couchbase/data/vbucket.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Requests for parts of a document: several paths at once, in the body or in extended attributes.
namespace holdfast::lab::couchbase {

inline constexpr std::size_t max_subdoc_specs = 16;

// Flags of a path.
inline constexpr std::uint8_t create_parents_flag = 0x01;
inline constexpr std::uint8_t xattr_flag = 0x04;
inline constexpr std::uint8_t expand_macros_flag = 0x10;

// Flags of a request.
inline constexpr std::uint8_t mkdoc_flag = 0x01;
inline constexpr std::uint8_t add_flag = 0x02;
inline constexpr std::uint8_t access_deleted_flag = 0x04;
inline constexpr std::uint8_t create_as_deleted_flag = 0x08;
inline constexpr std::uint8_t revive_flag = 0x10;
inline constexpr std::uint8_t replica_read_flag = 0x20;

struct subdoc_spec {
    subdoc_opcode opcode = subdoc_opcode::get;
    std::uint8_t flags = 0;
    std::string path = {};
    std::string value = {};  // of a change

    bool in_xattrs() const noexcept { return (flags & xattr_flag) != 0; }
};

struct lookup_reply {
    /// Success, subdoc_multi_path_failure and their twins for a deleted document have results; any
    /// other code is about the request or the document.
    kv_status code = kv_status::success;
    std::uint64_t cas = 0;
    std::vector<subdoc_value> results = {};
};

struct lookup_request {
    std::span<const subdoc_spec> specs;
    std::uint8_t doc_flags = 0;
};

lookup_reply look_up(vbucket& in, const doc_key& key, const lookup_request& what, wall_time now);

struct indexed_value {
    std::uint8_t index = 0;
    std::string value = {};
};

struct mutate_reply {
    mutation_reply base = {};
    /// With subdoc_multi_path_failure: which spec was refused, and why. Nothing was changed then.
    std::uint8_t failed_index = 0;
    kv_status failed = kv_status::success;
    std::vector<indexed_value> results = {};
};

struct mutate_request {
    std::span<const subdoc_spec> specs;
    std::uint8_t doc_flags = 0;
    std::optional<std::uint32_t> expiry = {};  // unset: 0, or as before if that is preserved
    std::uint64_t cas = 0;
    bool preserve_expiry = false;
};

mutate_reply mutate(vbucket& in, const doc_key& key, const mutate_request& what, wall_time now);

}  // namespace holdfast::lab::couchbase
