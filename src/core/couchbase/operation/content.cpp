#include "holdfast/couchbase/content.hpp"

#include <string>

namespace holdfast::couchbase {

namespace {

constexpr std::uint32_t format_mask = 0x0f000000;

std::string flags_in_hex(std::uint32_t flags)
{
    constexpr char digits[] = "0123456789abcdef";
    std::string text = "0x";
    for (int shift = 28; shift >= 0; shift -= 4)
        text += digits[flags >> shift & 0xf];
    return text;
}

std::string_view name_of_format(content_format format)
{
    switch (format) {
    case content_format::unknown: return "no known format";
    case content_format::own: return "a format of one SDK";
    case content_format::json: return "JSON";
    case content_format::binary: return "binary";
    case content_format::text: return "text";
    }
    return "no known format";
}

std::string named(std::uint32_t flags)
{
    return flags_in_hex(flags).append(" (").append(name_of_format(format_of(flags))).append(")");
}

/// The error of a mapping under a code of this protocol, with the path and offset that it names.
error renamed(errc code, std::string_view what, error mapping)
{
    error outer{code, std::string{what}.append(mapping.message())};
    for (const context_entry& entry : mapping.context())
        outer = std::move(outer).with_context(entry.name, entry.value);
    return outer;
}

}  // namespace

content_format format_of(std::uint32_t flags) noexcept
{
    if ((flags & 0xe0000000) != 0)
        return content_format::unknown;  // compressed by an SDK, in a way that none has used
    switch (flags & format_mask) {
    case 0x01000000: return content_format::own;
    case 0x02000000: return content_format::json;
    case 0x03000000: return content_format::binary;
    case 0x04000000: return content_format::text;
    case 0: break;
    default: return content_format::unknown;
    }
    // Before there were common flags, and from tools that set none, a document is JSON.
    return flags == 0 ? content_format::json : content_format::own;
}

namespace details {

error flags_do_not_fit(std::uint32_t found, std::uint32_t expected)
{
    return error{errc::decoding_failure, "the document has the flags " + named(found) +
                                             ", and this type is read from " + named(expected)}
        .with_context("expected", flags_in_hex(expected))
        .with_context("found", flags_in_hex(found));
}

error not_decoded(error mapping)
{
    return renamed(errc::decoding_failure,
                   "the content could not be decoded: ", std::move(mapping));
}

error not_encoded(error mapping)
{
    return renamed(errc::encoding_failure,
                   "the content could not be encoded: ", std::move(mapping));
}

}  // namespace details

}  // namespace holdfast::couchbase
