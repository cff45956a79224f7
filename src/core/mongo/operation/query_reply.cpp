#include "core/mongo/operation/draft.hpp"
#include "core/mongo/operation/query.hpp"

#include <utility>

namespace holdfast::core::mongo {

error not_a(std::string_view wanted, std::string_view because)
{
    std::string text = "the server's reply is no ";
    text += wanted;
    text += ": ";
    text += because;
    return error{errc::malformed_message, std::move(text)};
}

namespace {

error no_cursor(std::string_view because)
{
    return not_a("cursor", because);
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

}  // namespace holdfast::core::mongo
