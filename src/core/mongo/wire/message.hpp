#pragma once
#include "core/mongo/wire/message_flags.hpp"
#include "core/mongo/wire/message_header.hpp"
#include "holdfast/bson/element.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

namespace holdfast::core::mongo {

/// Steps through documents that lie one behind the other.
class document_iterator {
public:
    using value_type = bson::view;
    using difference_type = std::ptrdiff_t;

    document_iterator() = default;
    explicit document_iterator(const std::uint8_t* at) noexcept : at_{at} {}

    bson::view operator*() const noexcept { return bson::view::trusted(at_); }
    document_iterator& operator++() noexcept
    {
        at_ += bson::load<std::uint32_t>(at_);
        return *this;
    }
    document_iterator operator++(int) noexcept
    {
        const auto before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(document_iterator, document_iterator) = default;

private:
    const std::uint8_t* at_ = nullptr;
};

/// The documents of a kind 1 section, seen in place. Each one's length and last byte were checked
/// when the message was parsed.
struct message_sequence {
    std::string_view identifier;
    std::span<const std::uint8_t> bytes;

    document_iterator begin() const noexcept { return document_iterator{bytes.data()}; }
    document_iterator end() const noexcept
    {
        return document_iterator{bytes.data() + bytes.size()};
    }
    bool empty() const noexcept { return bytes.empty(); }
};

/// All kind 1 sections of a message. They are found anew by each walk, so that no list of them has
/// to be kept: most messages have none or one.
class message_sequences {
public:
    class iterator {
    public:
        using value_type = message_sequence;
        using difference_type = std::ptrdiff_t;

        iterator() = default;
        explicit iterator(std::span<const std::uint8_t> rest) noexcept : rest_{rest} { settle(); }

        message_sequence operator*() const noexcept;
        iterator& operator++() noexcept;
        iterator operator++(int) noexcept
        {
            const auto before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const iterator& a, std::default_sentinel_t) noexcept
        {
            return a.rest_.empty();
        }
        friend bool operator==(const iterator& a, const iterator& b) noexcept
        {
            return a.rest_.data() == b.rest_.data() && a.rest_.size() == b.rest_.size();
        }

    private:
        void settle() noexcept;

        std::span<const std::uint8_t> rest_;  // begins with a kind 1 section, or is empty
    };

    message_sequences() = default;
    iterator begin() const noexcept { return iterator{sections_}; }
    std::default_sentinel_t end() const noexcept { return {}; }
    bool empty() const noexcept { return begin() == end(); }

private:
    friend class message_parser;

    explicit message_sequences(std::span<const std::uint8_t> sections) noexcept
        : sections_{sections}
    {
    }

    std::span<const std::uint8_t> sections_;  // whose structure was checked
};

/// A message as it lies in a buffer: valid as long as its bytes are.
struct message {
    message_header header;
    message_flags flags;
    bson::view body;
    message_sequences sequences;
};

/// Reads exactly one OP_MSG. Sections, lengths, the checksum if there is one, and each document's
/// length and last byte are checked; elements are checked when they are read.
result<message> parse_message(std::span<const std::uint8_t> bytes,
                              std::size_t limit = max_message_size);

/// The same for whatever a server answers with: OP_MSG, or OP_REPLY to a legacy hello. A compressed
/// message has to be decompressed first.
result<message> parse_reply(std::span<const std::uint8_t> bytes,
                            std::size_t limit = max_message_size);

/// The same for a message whose header has been parsed already.
result<message> parse_reply(const message_header& header, std::span<const std::uint8_t> bytes);

}  // namespace holdfast::core::mongo
