#include "lab/mongo/serve/incoming.hpp"

#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/validate.hpp"
#include "lab/mongo/document/server_code.hpp"

#include <cstring>
#include <string>

namespace holdfast::lab::mongo {

namespace {

using core::mongo::header_size;
using core::mongo::op_code;

constexpr std::int32_t secondary_ok_bit = 1 << 2;
constexpr std::size_t largest_document = 16 * 1024 * 1024 + 16 * 1024;  // a command around one
constexpr int deepest = 120;

error malformed(std::size_t offset, std::string_view why)
{
    return core::mongo::wire_error(core::mongo::errc::malformed_message, offset, why);
}

/// Flags, "admin.$cmd", two numbers, and the command, which an old client may have wrapped.
result<incoming> read_query(const core::mongo::message_header& header,
                            std::span<const std::uint8_t> bytes)
{
    constexpr std::size_t name_at = header_size + 4;
    constexpr std::string_view suffix = ".$cmd";
    if (bytes.size() <= name_at)
        return malformed(bytes.size(), "the query ends before its name");
    const void* const zero = std::memchr(bytes.data() + name_at, 0, bytes.size() - name_at);
    if (zero == nullptr)
        return malformed(name_at, "the name has no end");
    const std::string_view ns{reinterpret_cast<const char*>(bytes.data()) + name_at};
    const std::size_t command_at = name_at + ns.size() + 1 + 8;
    if (!ns.ends_with(suffix) || ns.size() == suffix.size())
        return malformed(name_at, "a query of data");
    if (bytes.size() < command_at)
        return malformed(bytes.size(), "the query ends before its command");
    auto body = bson::view::parse_prefix(bytes.subspan(command_at));
    if (!body)
        return std::move(body).error();
    incoming read;
    read.legacy = true;
    read.secondary_ok = (bson::load<std::int32_t>(bytes.data() + header_size) & secondary_ok_bit) !=
                        0;
    read.database = ns.substr(0, ns.size() - suffix.size());
    read.message.header = header;
    read.message.body = *body;
    const bson::element first = *body->begin();
    if (!body->empty() && first.type() == bson::type::document &&
        (first.key() == "$query" || first.key() == "query"))
        read.message.body = first.as_document();
    return read;
}

result<void> check_document(bson::view document)
{
    if (document.size() > largest_document)
        return refuse(server_code::bson_object_too_large,
                      "BSONObj size: " + std::to_string(document.size()) +
                          " is invalid. Size must be between 0 and " +
                          std::to_string(largest_document) + "(16MB)");
    bson::validation validation;
    validation.utf8 = false;  // checked where text is looked into
    validation.depth = deepest;
    const auto checked = bson::validate(document.bytes(), validation);
    if (checked)
        return {};
    const bool too_deep = checked.error().code() == bson::errc::too_deep;
    return refuse(too_deep ? 15 : 22, checked.error().message());
}

}  // namespace

result<incoming> read_incoming(const core::mongo::frame& from, bson::byte_buffer& unpacked)
{
    std::span<const std::uint8_t> bytes = from.bytes;
    core::mongo::message_header header = from.header;
    std::optional<core::mongo::wire_compressor> packed_with;
    if (header.code == op_code::compressed) {
        constexpr std::size_t compressor_at = header_size + 8;
        unpacked.clear();
        auto plain = core::mongo::decompress_message(bytes, unpacked);
        if (!plain)
            return std::move(plain).error();
        packed_with = core::mongo::wire_compressor{bytes[compressor_at]};
        bytes = *plain;
        auto inner = core::mongo::parse_whole(bytes);
        if (!inner)
            return std::move(inner).error();
        header = *inner;
    }
    if (header.code == op_code::query) {
        auto read = read_query(header, bytes);
        if (read)
            read->packed_with = packed_with;
        return read;
    }
    auto parsed = core::mongo::parse_message(bytes);
    if (!parsed)
        return std::move(parsed).error();
    incoming read;
    read.message = *parsed;
    read.packed_with = packed_with;
    return read;
}

result<void> check_documents(const core::mongo::message& what)
{
    if (auto fine = check_document(what.body); !fine)
        return fine;
    for (const core::mongo::message_sequence part : what.sequences) {
        for (const bson::view document : part) {
            if (auto fine = check_document(document); !fine)
                return fine;
        }
    }
    return {};
}

}  // namespace holdfast::lab::mongo
