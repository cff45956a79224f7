#include "core/mongo/error/server_error.hpp"
#include "core/mongo/operation/draft.hpp"
#include "core/mongo/operation/query.hpp"

#include <utility>

/// From the replies to reads to results.
namespace holdfast::core::mongo {

namespace {

constexpr int namespace_not_found = 26;

error not_a(std::string_view wanted, std::string_view why)
{
    std::string text = "the server's reply is no ";
    text += wanted;
    text += ": ";
    text += why;
    return error{errc::malformed_message, std::move(text)};
}

error no_cursor(std::string_view why)
{
    return not_a("cursor", why);
}

/// Counts the documents of a batch, or -1 if there is something else among them. Batches are large,
/// so their elements are not walked in the usual way.
std::int64_t count_documents_in(bson::array_view batch) noexcept
{
    constexpr std::uint32_t least_size = 5;
    const std::uint8_t* at = batch.bytes().data() + 4;
    const std::uint8_t* const end = batch.bytes().data() + batch.bytes().size() - 1;
    std::int64_t count = 0;
    for (; at != end; ++count) {
        if (*at != static_cast<std::uint8_t>(bson::type::document)) [[unlikely]]
            return -1;
        at += 1 + bson::layout::key_size(at + 1, end) + 1;
        const std::ptrdiff_t room = end - at;
        if (room < least_size) [[unlikely]]
            return -1;
        const auto size = bson::load<std::uint32_t>(at);
        if (size < least_size || size > room || at[size - 1] != 0) [[unlikely]]
            return -1;
        at += size;
    }
    return count;
}

}  // namespace

result<cursor_batch> read_batch(bson::view reply)
{
    const bson::element cursor = reply.find("cursor");
    if (cursor.type() != bson::type::document) [[unlikely]]
        return no_cursor("it has no document \"cursor\"");
    cursor_batch found;
    bool has_id = false;
    bool has_batch = false;
    for (const bson::element& e : cursor.as_document()) {
        const std::string_view key = e.key();
        if (key == "id") {
            has_id = e.type() == bson::type::int64 || e.type() == bson::type::int32;
            found.id = number_or(e, 0);
        } else if (key == "ns") {
            found.space = text_or_empty(e);
        } else if (key == "firstBatch" || key == "nextBatch") {
            if (e.type() != bson::type::array) [[unlikely]]
                return no_cursor("its batch is no array");
            found.documents = e.as_array();
            found.count = count_documents_in(found.documents);
            has_batch = true;
        }
    }
    if (!has_id || !has_batch) [[unlikely]]
        return no_cursor(has_id ? "it has no batch" : "it has no id");
    if (found.count < 0) [[unlikely]]
        return no_cursor("its batch holds something that is no document");
    return found;
}

result<std::optional<bson::document>> read_find_one(command_outcome outcome, const command&)
{
    using one = std::optional<bson::document>;
    if (!outcome) [[unlikely]]
        return std::move(outcome).error();
    const auto batch = read_batch(*outcome);
    if (!batch) [[unlikely]]
        return batch.error();
    if (batch->documents.empty())
        return one{};
    return one{bson::document{batch->documents.begin()->as_document()}};
}

result<std::int64_t> read_count_documents(command_outcome outcome, const command&)
{
    if (!outcome)
        return std::move(outcome).error();
    const auto batch = read_batch(*outcome);
    if (!batch)
        return batch.error();
    if (batch->documents.empty())
        return std::int64_t{0};  // no document matches: there is no group either
    const bson::element count = batch->documents.begin()->as_document().find("n");
    if (const std::int64_t n = number_or(count, -1); n >= 0)
        return n;
    return not_a("count", "it has no number \"n\"");
}

result<std::int64_t> read_estimated_count(command_outcome outcome, const command&)
{
    if (!outcome) {
        if (outcome.error().code() == error_code{namespace_not_found, server_category()})
            return std::int64_t{0};
        return std::move(outcome).error();
    }
    if (const std::int64_t n = number_or(outcome->find("n"), -1); n >= 0)
        return n;
    return not_a("count", "it has no number \"n\"");
}

result<bson::array> read_distinct(command_outcome outcome, const command&)
{
    if (!outcome)
        return std::move(outcome).error();
    const bson::element values = outcome->find("values");
    if (values.type() != bson::type::array)
        return not_a("list of values", "it has no array \"values\"");
    return bson::array{values.as_array()};
}

}  // namespace holdfast::core::mongo
