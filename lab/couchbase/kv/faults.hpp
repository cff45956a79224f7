#pragma once
#include "core/couchbase/wire/kv_protocol.hpp"
#include "lab/fault/fault_plan.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::lab::couchbase {

/// A request, as faults choose it.
struct kv_target {
    core::couchbase::kv_opcode opcode;
    std::string_view bucket;  // the selected one; empty if there is none
    std::string_view key;     // as it was sent, with the prefix of its collection
    std::uint64_t connection = 0;  // counted from 1 on each node
    std::string_view document = {};  // the key without that prefix, as far as there is one
    std::span<const std::uint8_t> value = {};  // as it was sent
};

/// What is wrong with the bytes of a reply.
enum class frame_damage : std::uint8_t {
    none,
    wrong_magic,
    huge_body,        // its length is 2^31
    long_key,         // longer than the body
    bad_framing,      // frame infos of an "alt" reply that end in the middle
    unknown_datatype, // a bit that was not negotiated
};

/// What a node does to one request. With a status (`error_code`) it is not carried out; with
/// `close_connection` neither. With all others it is, and its client cannot know.
/// A delay holds back all that follows on the connection.
struct kv_fault : fault {
    std::string body = {};  // of the reply with a status
    bool silent = false;    // there is no reply
    int replies = 1;        // how often the same one is sent
    std::chrono::milliseconds delay_up_to{0};  // more than `delay`: drawn between the two
    std::chrono::milliseconds reply_delay{0};  // of this reply alone; others overtake it
    std::size_t overtaken_by = 0;  // so many later replies are sent before this one
    bool foreign_opaque = false;   // the reply is to a request that was never made
    std::optional<std::string> value = {};  // of the reply, instead of the real one
    frame_damage damage = frame_damage::none;
    bool stop_reading = false;  // nothing more is read from the connection, which stays open
};

using kv_fault_plan = fault_plan<kv_target, kv_fault>;

}  // namespace holdfast::lab::couchbase
