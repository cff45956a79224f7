#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/id.hpp"

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::core::mongo {

/// Addresses that a server reports: sorted, each once, in lower case. Never changed and shared by
/// all copies: a large set repeats its names in every reply, which should cost next to nothing.
class address_list {
public:
    using const_iterator = std::vector<std::string_view>::const_iterator;

    address_list() = default;
    explicit address_list(std::span<const endpoint> addresses);
    address_list(std::initializer_list<endpoint> addresses)
        : address_list{std::span{addresses.begin(), addresses.size()}}
    {
    }

    /// From a field of a reply; what is no string is passed over. `previous` is what the same field
    /// said before: if it said the same, the list is shared.
    static address_list parse(bson::array_view reported, const address_list& previous = {});

    const_iterator begin() const noexcept { return names().begin(); }
    const_iterator end() const noexcept { return names().end(); }
    std::size_t size() const noexcept { return names().size(); }
    bool empty() const noexcept { return names().empty(); }

    bool contains(std::string_view address) const noexcept;
    bool shares_with(const address_list& other) const noexcept
    {
        return storage_ == other.storage_;
    }

    /// The same addresses for events, not copied; null if there are none.
    std::shared_ptr<const std::vector<endpoint>> shared() const noexcept
    {
        return storage_ ? storage_->addresses : nullptr;
    }

    friend bool operator==(const address_list& a, const address_list& b) noexcept;

private:
    struct storage {
        std::optional<bson::array> source;  // as it was reported
        std::shared_ptr<const std::vector<endpoint>> addresses;
        std::vector<std::string_view> names;  // of these

        void keep(std::vector<endpoint> found);
    };

    const std::vector<std::string_view>& names() const noexcept;

    std::shared_ptr<const storage> storage_;
};

}  // namespace holdfast::core::mongo
