#include "holdfast/bson/validate.hpp"

#include "check.hpp"
#include "differences.hpp"
#include "holdfast/bson/canonical.hpp"
#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/json.hpp"
#include "mutate.hpp"
#include "sample_write.hpp"
#include "support/walk.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::property::validate_test {
namespace {

using bson::element;
using byte_string = std::vector<std::uint8_t>;

/// Bytes on which the two disagree. libbson is asked to check UTF-8 and to allow zero bytes in
/// text, which is what we do.
struct disagreement {
    std::span<const std::uint8_t> bytes;
    const result<bson::view>& ours;
    bool theirs;
    std::size_t their_offset;

    bool only_they_accept(bson::errc why) const
    {
        return theirs && ours.error().code() == make_error_code(why);
    }
};

std::size_t offset_of(const error& e)
{
    const std::string_view text = e.context("offset");
    std::size_t offset = 0;
    std::from_chars(text.data(), text.data() + text.size(), offset);
    return offset;
}

/// What lies on the way to the place of our error.
struct path_to_error {
    bson::type last = bson::type::invalid;  // of the element that begins there, malformed or not
    bool code_with_scope = false;           // there is one before it, or around it
};

path_to_error path_of(const disagreement& d)
{
    const std::size_t offset = offset_of(d.ours.error());
    const std::uint8_t* const at = d.bytes.data() + offset;
    path_to_error path{bson::type{d.bytes[offset]}, false};
    for (auto document = bson::view::parse(d.bytes); document;) {
        element around;
        for (const element& e : *document) {
            if (!e || e.data() > at)
                break;
            path.code_with_scope |= e.type() == bson::type::code_with_scope;
            around = e;
        }
        if (!around || around.data() == at ||
            (around.type() != bson::type::document && around.type() != bson::type::array) ||
            at >= around.bytes().data() + around.bytes().size())
            break;
        document = around.as_document();
    }
    return path;
}

bool after_code_with_scope(const disagreement& d)
{
    return d.theirs && path_of(d).code_with_scope;
}

/// The value that begins at the place of our error, after type and key.
std::span<const std::uint8_t> blamed_value(const disagreement& d)
{
    const auto from_type = d.bytes.subspan(offset_of(d.ours.error()));
    const auto key_end = std::ranges::find(from_type.subspan(1), std::uint8_t{0});
    return {key_end + 1, from_type.end()};
}

/// Key and texts of the element that we blame for not being UTF-8; nothing if it is another error.
std::vector<std::string_view> blamed_texts(const disagreement& d)
{
    if (!d.only_they_accept(bson::errc::invalid_utf8))
        return {};
    const auto at = d.bytes.subspan(offset_of(d.ours.error()));
    const auto value = blamed_value(d);
    const auto* const text = reinterpret_cast<const char*>(value.data());
    std::vector<std::string_view> texts{reinterpret_cast<const char*>(at.data() + 1)};
    switch (bson::type{at[0]}) {
    case bson::type::string:
    case bson::type::code:
    case bson::type::symbol:
    case bson::type::db_pointer:
        texts.push_back({text + 4, bson::load<std::uint32_t>(value.data()) - 1});
        break;
    case bson::type::regex:
        texts.push_back(text);
        texts.push_back(text + texts.back().size() + 1);
        break;
    default:
        break;
    }
    return texts;
}

/// The text that we blame is wrong in the eyes of libbson as well, if one asks for that text alone.
bool text_that_is_not_utf8(const disagreement& d)
{
    return std::ranges::any_of(blamed_texts(d), [](std::string_view text) {
        return !bson_utf8_validate(text.data(), text.size(), true);
    });
}

/// If each C0 80 were something else, all would be well.
bool zero_in_two_bytes(const disagreement& d)
{
    const auto texts = blamed_texts(d);
    return !texts.empty() && std::ranges::all_of(texts, [](std::string_view text) {
        std::string other{text};
        for (std::size_t at; (at = other.find("\xC0\x80")) != other.npos;)
            other.replace(at, 2, "aa");
        return bson::is_utf8(other);
    });
}

/// A nested document that we call malformed and that libbson steps over, unread.
std::optional<std::span<const std::uint8_t>> blamed_document(const disagreement& d)
{
    if (!d.only_they_accept(bson::errc::malformed))
        return std::nullopt;
    const bson::type t = path_of(d).last;
    const auto value = blamed_value(d);
    if ((t != bson::type::document && t != bson::type::array) || value.size() < 4)
        return std::nullopt;
    return value;
}

bool unterminated_document(const disagreement& d)
{
    const auto value = blamed_document(d);
    const auto length = value ? bson::load<std::uint32_t>(value->data()) : 0;
    return value && length >= 5 && length <= value->size() && (*value)[length - 1] != 0;
}

bool document_of_four_bytes(const disagreement& d)
{
    const auto value = blamed_document(d);
    return value && bson::load<std::uint32_t>(value->data()) == 4;
}

bool too_deep(const disagreement& d)
{
    return d.only_they_accept(bson::errc::too_deep);
}

difference_table<disagreement>& known_differences()
{
    static difference_table<disagreement> table{
        "which bytes are a document",
        {
            {"libbson does not look into code with scope, and ends its check of a document there",
             "corpus, code_w_scope: decodeErrors", after_code_with_scope},
            {"libbson ends its check quietly at text that is not UTF-8",
             "corpus, string, code, symbol and dbpointer: decodeErrors", text_that_is_not_utf8},
            {"libbson takes the overlong form C0 80 for a zero byte", "RFC 3629, section 3",
             zero_in_two_bytes},
            {"libbson passes over a nested document that does not end with a zero byte",
             "corpus, array and document: decodeErrors", unterminated_document},
            {"libbson passes over a nested document of four bytes, which are its length alone",
             "corpus, top: decodeErrors", document_of_four_bytes},
            {"we follow nesting to depth 100 only", "bson::max_depth", too_deep},
        }};
    return table;
}

/// A reader that trusts no input: no bytes may lead it astray. The sanitizers watch.
void read_without_trust(const byte_string& bytes, bool valid)
{
    const auto document = bson::view::parse(bytes);
    if (!document)
        return;
    const proof::walked seen = proof::walk(*document);
    const auto printed = bson::to_json(*document, bson::json_mode::canonical);
    const auto relaxed = bson::to_json(*document, bson::json_mode::relaxed);
    const auto rewritten = bson::canonical(*document);
    if (!valid)
        return;
    RC_ASSERT(seen.errors == 0U);
    RC_ASSERT(printed.has_value() && relaxed.has_value() && rewritten.has_value());
}

TEST(validate_property, damaged_documents_validate_like_libbson)
{
    known_differences();
    check([] {
        const choice_bytes for_document = *any_choices();
        const choice_bytes for_damage = *few_choices();
        choices c{for_document};
        choices damage{for_damage};
        const bson::document whole = write_with_ours(make_document(c));
        byte_string bytes(whole.bytes().begin(), whole.bytes().end());
        if (damage.one_in(64))
            bytes = wrap(std::move(bytes), 90 + damage.below(20));
        bytes = mutate(std::move(bytes), damage);

        const auto ours = bson::validate(bytes);
        bson_t static_document;
        std::size_t offset = 0;
        constexpr auto flags = static_cast<bson_validate_flags_t>(BSON_VALIDATE_UTF8 |
                                                                  BSON_VALIDATE_UTF8_ALLOW_NULL);
        const bool theirs = bson_init_static(&static_document, bytes.data(), bytes.size()) &&
                            bson_validate(&static_document, flags, &offset);
        if (ours.has_value() != theirs &&
            !known_differences().explains({bytes, ours, theirs, offset}))
            RC_FAIL((ours ? "only we accept " : ours.error().message() + ", but libbson accepts ") +
                    hex(bytes) + " (libbson's offset: " + std::to_string(offset) + ")");
        read_without_trust(bytes, ours.has_value());
    });
}

}  // namespace
}  // namespace holdfast::property::validate_test
