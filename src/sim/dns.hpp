#pragma once
#include "runtime/world.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

/// What all name servers say. Names are compared without case and without a dot at the end.
class name_tables {
public:
    template <class Record>
    using table = std::map<std::string, std::vector<Record>, std::less<>>;

    duration latency = std::chrono::milliseconds{1};
    bool failing = false;
    table<std::string> addresses;
    table<runtime::srv_record> services;
    table<std::string> texts;
};

/// How long one asks before giving up.
inline constexpr duration dns_timeout = std::chrono::seconds{5};

std::string normal_name(std::string_view name);

/// "10.0.0.1" or "::1", which need no look-up.
bool is_address(std::string_view text) noexcept;
bool is_loopback(std::string_view address) noexcept;

/// An empty list removes the name.
template <class Record>
void set_records(name_tables::table<Record>& in, std::string_view name, std::vector<Record> records)
{
    if (records.empty())
        in.erase(normal_name(name));
    else
        in.insert_or_assign(normal_name(name), std::move(records));
}

/// An empty list if there are none.
template <class Record>
std::vector<Record> records_of(const name_tables::table<Record>& in, std::string_view name)
{
    const auto found = in.find(normal_name(name));
    return found == in.end() ? std::vector<Record>{} : found->second;
}

}  // namespace holdfast::sim
