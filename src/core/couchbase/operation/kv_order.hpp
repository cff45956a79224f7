#pragma once
#include "core/couchbase/wire/big_endian.hpp"
#include "core/couchbase/wire/datatype.hpp"
#include "core/couchbase/wire/frame_info.hpp"
#include "core/couchbase/wire/kv_protocol.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/couchbase/kv_options.hpp"
#include "holdfast/error.hpp"

#include <array>
#include <cassert>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace holdfast::core::couchbase {

/// The extras of a request, where it lies. Those of a counter are the longest.
class request_extras {
public:
    static constexpr std::size_t capacity = 20;

    std::span<const std::uint8_t> bytes() const noexcept { return {bytes_.data(), size_}; }

    /// Big-endian, as all numbers of the protocol.
    template <std::unsigned_integral Number>
    void add(Number value) noexcept
    {
        store_big(bytes_.data() + size_, value);
        size_ += sizeof(Number);
    }

private:
    std::array<std::uint8_t, capacity> bytes_{};
    std::uint8_t size_ = 0;
};

/// A document's id, where it lies: none is longer, and taking memory for it would cost as much as
/// finding its node.
class document_key {
public:
    static constexpr std::size_t capacity = 250;

    document_key() noexcept {}  // the bytes have no values
    document_key(const document_key& other) noexcept { assign(other); }
    document_key& operator=(const document_key& other) noexcept
    {
        assign(other);
        return *this;
    }
    ~document_key() = default;

    /// Not longer than `capacity`.
    void assign(std::string_view key) noexcept
    {
        assert(key.size() <= capacity);
        size_ = static_cast<std::uint8_t>(key.size());
        std::memmove(bytes_.data(), key.data(), size_);
    }

    operator std::string_view() const noexcept { return {bytes_.data(), size_}; }

private:
    std::array<char, capacity> bytes_;
    std::uint8_t size_ = 0;
};

/// A key-value request before it is known where it goes: all of it but the opaque, the vbucket and
/// the collection's id, which each attempt finds anew.
struct kv_order {
    kv_opcode opcode = kv_opcode::noop;
    std::string_view operation = {};  // "get": a literal, for errors, events and logs
    document_key key = {};
    std::uint64_t cas = 0;
    kv_datatype datatype = kv_datatype::raw;
    bool may_compress = false;
    request_infos infos = {};
    request_extras extras = {};
    bson::byte_buffer value = {};
    std::uint8_t copy = 0;  // of the document that is asked: 0 the active one, 1 to 3 a replica
    /// Of a read of one among several copies: which of them may be read. Then a copy that there is
    /// not, or not at present, is not waited for.
    std::optional<holdfast::couchbase::read_preference> preference = {};
};

/// A reply, as views of the bytes that it was read from. The value is not compressed any more.
struct kv_reply {
    kv_status status = kv_status::success;
    kv_datatype datatype = kv_datatype::raw;
    std::uint64_t cas = 0;
    std::span<const std::uint8_t> extras = {};
    std::span<const std::uint8_t> value = {};
    std::optional<std::chrono::microseconds> server_duration = {};

    // Of the request: a mutation token names them.
    std::uint16_t vbucket = 0;
    std::string_view bucket = {};
};

/// One operation: its request, which statuses answer it, and what its caller gets of such an
/// answer. All other statuses are failures: classify_kv() says which.
template <class Operation>
concept kv_operation = requires(Operation& operation, kv_status status, const kv_reply& reply) {
    typename Operation::value_type;
    { operation.order } -> std::same_as<kv_order&>;
    { Operation::is_answer(status) } -> std::same_as<bool>;
    { operation.read(reply) } -> std::same_as<result<typename Operation::value_type>>;
};

}  // namespace holdfast::core::couchbase
