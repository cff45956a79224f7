#include "core/mongo/wire/message.hpp"

#include "core/mongo/wire/crc32c.hpp"
#include "core/mongo/wire/legacy_query.hpp"

#include <cstring>
#include <optional>
#include <string>

namespace holdfast::core::mongo {

namespace {

constexpr std::size_t checksum_size = sizeof(std::uint32_t);
constexpr std::size_t first_section = header_size + sizeof(std::uint32_t);

std::size_t section_size(std::span<const std::uint8_t> section) noexcept
{
    return 1 + bson::load<std::uint32_t>(section.data() + 1);
}

}  // namespace

/// One run over the bytes of an OP_MSG. Offsets count from the start of the message.
class message_parser {
public:
    explicit message_parser(std::span<const std::uint8_t> bytes) noexcept
        : bytes_{bytes}, end_{bytes.size()}
    {
    }

    result<message> run(const message_header& header)
    {
        if (bytes_.size() < first_section)
            return malformed(bytes_.size(), "the message ends before its flags");
        const auto bits = bson::load<std::uint32_t>(bytes_.data() + header_size);
        if (const auto unknown = message_flags::unknown_required_bits(bits); unknown != 0)
            return wire_error(errc::unsupported_message, header_size,
                              "unknown required flag bits " + std::to_string(unknown));
        const auto flags = message_flags::from_bits(bits);
        if (flags.checksum_present) {
            if (auto wrong = check_checksum())
                return *std::move(wrong);
        }
        for (std::size_t at = first_section; at < end_;) {
            auto next = section(at);
            if (!next)
                return std::move(next).error();
            at = *next;
        }
        if (!body_)
            return malformed(end_, "there is no section of kind 0");
        const auto sections = bytes_.subspan(first_section, end_ - first_section);
        return message{header, flags, *body_, message_sequences{sections}};
    }

private:
    static error malformed(std::size_t offset, std::string_view why)
    {
        return wire_error(errc::malformed_message, offset, why);
    }

    std::optional<error> check_checksum()
    {
        if (bytes_.size() < first_section + checksum_size)
            return malformed(bytes_.size(), "the message ends before its checksum");
        end_ = bytes_.size() - checksum_size;
        const auto claimed = bson::load<std::uint32_t>(bytes_.data() + end_);
        if (crc32c(bytes_.first(end_)) != claimed)
            return wire_error(errc::checksum_mismatch, end_, "the checksum does not match");
        return std::nullopt;
    }

    /// Checks the section at `at` and gives where it ends.
    result<std::size_t> section(std::size_t at)
    {
        switch (bytes_[at]) {
        case body_section: {
            if (body_)
                return malformed(at, "a second section of kind 0");
            auto body = document(at + 1, end_);
            if (!body)
                return std::move(body).error();
            body_ = *body;
            return at + 1 + body->size();
        }
        case sequence_section:
            return sequence(at + 1);
        default:
            return wire_error(errc::unsupported_message, at,
                              "unknown section kind " + std::to_string(bytes_[at]));
        }
    }

    result<std::size_t> sequence(std::size_t at)
    {
        if (end_ - at < sizeof(std::int32_t))
            return malformed(at, "the message ends within the length of a sequence");
        const auto length = bson::load<std::int32_t>(bytes_.data() + at);
        if (length < 5 || static_cast<std::size_t>(length) > end_ - at)
            return malformed(at, "the length of a sequence is " + std::to_string(length) +
                                     ", not within 5 to " + std::to_string(end_ - at));
        const std::size_t end = at + static_cast<std::size_t>(length);
        const std::size_t name = at + sizeof(std::int32_t);
        const void* const zero = std::memchr(bytes_.data() + name, 0, end - name);
        if (zero == nullptr)
            return malformed(name, "the identifier of a sequence has no end");

        auto next = static_cast<std::size_t>(static_cast<const std::uint8_t*>(zero) -
                                             bytes_.data()) +
                    1;
        while (next < end) {
            const auto one = document(next, end);
            if (!one)
                return one.error();
            next += one->size();
        }
        return end;
    }

    result<bson::view> document(std::size_t at, std::size_t end)
    {
        auto parsed = bson::view::parse_prefix(bytes_.subspan(at, end - at));
        if (!parsed)
            return malformed(at, parsed.error().message());
        return parsed;
    }

    std::span<const std::uint8_t> bytes_;
    std::size_t end_;  // of the sections
    std::optional<bson::view> body_;
};

message_sequence message_sequences::iterator::operator*() const noexcept
{
    const auto section = rest_.first(section_size(rest_));
    constexpr std::size_t name = 1 + sizeof(std::int32_t);
    const std::string_view identifier{reinterpret_cast<const char*>(section.data()) + name};
    return {identifier, section.subspan(name + identifier.size() + 1)};
}

message_sequences::iterator& message_sequences::iterator::operator++() noexcept
{
    rest_ = rest_.subspan(section_size(rest_));
    settle();
    return *this;
}

void message_sequences::iterator::settle() noexcept
{
    // A body begins with its length, as a sequence does: both are stepped over in the same way.
    while (!rest_.empty() && rest_[0] == body_section)
        rest_ = rest_.subspan(section_size(rest_));
}

namespace {

error unexpected(op_code code)
{
    return wire_error(errc::unsupported_message, 12,
                      std::string{name_of(code)} + " is not expected here");
}

}  // namespace

result<message> parse_message(std::span<const std::uint8_t> bytes, std::size_t limit)
{
    auto header = parse_whole(bytes, limit);
    if (!header)
        return std::move(header).error();
    if (header->code != op_code::msg)
        return unexpected(header->code);
    return message_parser{bytes}.run(*header);
}

result<message> parse_reply(std::span<const std::uint8_t> bytes, std::size_t limit)
{
    auto header = parse_whole(bytes, limit);
    if (!header)
        return std::move(header).error();
    return parse_reply(*header, bytes);
}

result<message> parse_reply(const message_header& header, std::span<const std::uint8_t> bytes)
{
    switch (header.code) {
    case op_code::msg:
        return message_parser{bytes}.run(header);
    case op_code::reply:
        return parse_legacy_reply(header, bytes);
    case op_code::query:
    case op_code::compressed:
        break;
    }
    return unexpected(header.code);
}

}  // namespace holdfast::core::mongo
