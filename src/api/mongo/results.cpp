#include "holdfast/mongo/results.hpp"

#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/store.hpp"

#include <cstring>
#include <utility>

namespace holdfast::mongo {

namespace {

constexpr std::size_t before_value = 1 + 4;  // type, "_id"

/// A document of one field, as it lies in another one: type, key and value.
template <std::size_t Size>
void write_holder(bson::byte_buffer& to, std::span<const std::uint8_t, Size> element)
{
    const std::size_t size = 4 + element.size() + 1;
    std::uint8_t* at = to.grow(size);
    at = bson::layout::store(at, static_cast<std::uint32_t>(size));
    *bson::layout::store_bytes(at, element.data(), element.size()) = 0;
}

}  // namespace

id_value::id_value(const bson::element& value)
{
    if (value.key() != "_id" || !value) {
        holder_ = bson::doc("_id", value);
        return;
    }
    bson::byte_buffer bytes;
    bytes.reserve(4 + value.bytes().size() + 1);
    write_holder(bytes, value.bytes());
    holder_ = bson::document::adopt(std::move(bytes));
}

void id_list::add(const bson::element& id)
{
    if (id.key() == "_id" && id)
        return add(id.bytes());
    begin_unusual();
    bson::builder holder{bytes_};
    holder.copy("_id", id);  // of what is no value, an empty document stays
}

void id_list::add_from(bson::view document)
{
    const std::uint8_t* const element = document.data() + 4;
    const std::size_t size = bson::layout::fixed_size[*element];
    if (size < bson::layout::variable && document.size() > 4 + before_value + size &&
        std::memcmp(element + 1, "_id", 4) == 0) [[likely]]
        return add({element, before_value + size});
    add(document.find("_id"));
}

void id_list::reserve(std::size_t count)
{
    bytes_.reserve(count * usual_size);
}

/// Type, key and value, as they lie in a document.
void id_list::add(std::span<const std::uint8_t> element)
{
    if (4 + element.size() + 1 == usual_size && starts_.empty()) [[likely]] {
        ++count_;
        return write_holder(bytes_, element.first<usual_size - 4 - 1>());
    }
    add_unusual(element);
}

/// Apart, so that the usual one need not save registers for it.
[[gnu::noinline]] void id_list::add_unusual(std::span<const std::uint8_t> element)
{
    begin_unusual();
    write_holder(bytes_, element);
}

/// From now on it must be written down where each begins.
void id_list::begin_unusual()
{
    if (starts_.empty())
        for (std::size_t i = 0; i < count_; ++i)
            starts_.push_back(static_cast<std::uint32_t>(i * usual_size));
    starts_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    ++count_;
}

bson::element id_list::operator[](std::size_t index) const noexcept
{
    const std::size_t at = starts_.empty() ? index * usual_size : starts_[index];
    return bson::view::trusted(bytes_.data() + at).find("_id");
}

}  // namespace holdfast::mongo
