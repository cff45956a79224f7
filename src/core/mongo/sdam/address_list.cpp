#include "core/mongo/sdam/address_list.hpp"

#include "core/mongo/settings/address.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace holdfast::core::mongo {

namespace {

/// What nearly every address consists of.
constexpr auto plain_characters = [] {
    std::array<bool, 256> plain{};
    for (const char c : std::string_view{"abcdefghijklmnopqrstuvwxyz0123456789.-:"})
        plain[static_cast<unsigned char>(c)] = true;
    return plain;
}();

/// Whether a name is already as reported_address() would make it: "db1.example.com:27017". Nearly
/// all are. It would make small letters, add a port, and take leading zeros from one.
bool is_plain_address(std::string_view text) noexcept
{
    return std::ranges::all_of(
               text, [](char c) { return plain_characters[static_cast<unsigned char>(c)]; }) &&
           text.find(':') != text.npos && text.find(":0") == text.npos;
}

}  // namespace

void address_list::storage::keep(std::vector<endpoint> found)
{
    std::ranges::sort(found);
    const auto repeated = std::ranges::unique(found);
    found.erase(repeated.begin(), repeated.end());
    addresses = std::make_shared<const std::vector<endpoint>>(std::move(found));
    names.reserve(addresses->size());
    for (const endpoint& one : *addresses)
        names.emplace_back(one.value());
}

address_list::address_list(std::span<const endpoint> addresses)
{
    const auto made = std::make_shared<storage>();
    made->keep(std::vector<endpoint>(addresses.begin(), addresses.end()));
    storage_ = made;
}

address_list address_list::parse(bson::array_view reported, const address_list& previous)
{
    if (previous.storage_ && previous.storage_->source &&
        previous.storage_->source->view() == reported)
        return previous;
    const auto made = std::make_shared<storage>();
    made->source.emplace(reported);
    std::vector<endpoint> found;
    for (const bson::element& item : reported) {
        if (item.type() != bson::type::string)
            continue;
        const std::string_view name = item.as_string();
        found.push_back(is_plain_address(name) ? endpoint{std::string{name}}
                                               : reported_address(name));
    }
    made->keep(std::move(found));
    address_list list;
    list.storage_ = made;
    return list;
}

const std::vector<std::string_view>& address_list::names() const noexcept
{
    static const std::vector<std::string_view> none;
    return storage_ ? storage_->names : none;
}

bool address_list::contains(std::string_view address) const noexcept
{
    return std::ranges::binary_search(names(), address);
}

bool operator==(const address_list& a, const address_list& b) noexcept
{
    return a.shares_with(b) || std::ranges::equal(a.names(), b.names());
}

}  // namespace holdfast::core::mongo
