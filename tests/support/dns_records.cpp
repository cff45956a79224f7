#include "support/dns_records.hpp"

#include <algorithm>

namespace holdfast::proof {
namespace {

constexpr std::size_t header_size = 12;
constexpr std::uint16_t internet = 1;

void put(dns_message& to, std::uint16_t number)
{
    to.push_back(static_cast<std::uint8_t>(number >> 8));
    to.push_back(static_cast<std::uint8_t>(number));
}

void put_long(dns_message& to, std::uint32_t number)
{
    put(to, static_cast<std::uint16_t>(number >> 16));
    put(to, static_cast<std::uint16_t>(number));
}

void put_text(dns_message& to, std::string_view text)
{
    to.push_back(static_cast<std::uint8_t>(text.size()));
    to.insert(to.end(), text.begin(), text.end());
}

void put_name(dns_message& to, std::string_view name)
{
    while (!name.empty()) {
        const std::size_t dot = std::min(name.find('.'), name.size());
        put_text(to, name.substr(0, dot));
        name.remove_prefix(std::min(dot + 1, name.size()));
    }
    to.push_back(0);
}

std::uint16_t number_at(std::span<const std::uint8_t> message, std::size_t at)
{
    return static_cast<std::uint16_t>(message[at] << 8 | message[at + 1]);
}

}  // namespace

std::optional<dns_question> read_question(std::span<const std::uint8_t> message)
{
    if (message.size() < header_size || number_at(message, 4) != 1)
        return std::nullopt;
    dns_question asked;
    asked.id = number_at(message, 0);
    std::size_t at = header_size;
    while (at < message.size() && message[at] != 0) {
        const std::size_t length = message[at];
        if (length > 63 || at + length + 1 >= message.size())
            return std::nullopt;
        asked.name += asked.name.empty() ? "" : ".";
        for (const std::uint8_t c : message.subspan(at + 1, length))
            asked.name += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        at += length + 1;
    }
    if (message.size() < at + 5)
        return std::nullopt;
    asked.type = number_at(message, at + 1);
    asked.length = at + 5;
    return asked;
}

void dns_records::add(std::string_view name, dns_type type, std::uint32_t ttl, dns_message data)
{
    all_[std::string{name}].push_back({type, ttl, std::move(data)});
}

void dns_records::add_srv(std::string_view name, const runtime::srv_record& what)
{
    dns_message data;
    put(data, what.priority);
    put(data, what.weight);
    put(data, what.port);
    put_name(data, what.host);
    add(name, dns_type::srv, what.ttl, std::move(data));
}

void dns_records::add_txt(std::string_view name, const std::vector<std::string>& strings)
{
    dns_message data;
    for (const std::string& text : strings)
        put_text(data, text);
    add(name, dns_type::txt, 60, std::move(data));
}

void dns_records::add_alias(std::string_view name, std::string_view of)
{
    dns_message data;
    put_name(data, of);
    all_[std::string{name}].push_back({dns_type::cname, 60, std::move(data), std::string{of}});
}

/// Also a name under which there are others: it exists, although it has no record.
bool dns_records::is_known(const std::string& name) const
{
    return std::ranges::any_of(all_, [&name](const auto& entry) {
        return entry.first == name || entry.first.ends_with('.' + name);
    });
}

dns_message dns_records::answer(const dns_question& asked,
                                std::span<const std::uint8_t> as_it_came) const
{
    dns_message made = bare_answer(
        as_it_came, asked, is_known(asked.name) ? dns_status::good : dns_status::no_such_name);
    std::uint16_t count = 0;
    std::string name = asked.name;
    for (std::size_t hops = 0; hops < 8; ++hops) {
        const auto known = all_.find(name);
        if (known == all_.end())
            break;
        std::string next;
        for (const record& one : known->second) {
            const bool is_alias = one.type == dns_type::cname;
            if (!is_alias && static_cast<std::uint16_t>(one.type) != asked.type)
                continue;
            if (name == asked.name)
                put(made, 0xc000 | header_size);  // where the question has said it
            else
                put_name(made, name);
            put(made, static_cast<std::uint16_t>(one.type));
            put(made, internet);
            put_long(made, one.ttl);
            put(made, static_cast<std::uint16_t>(one.data.size()));
            made.insert(made.end(), one.data.begin(), one.data.end());
            ++count;
            if (is_alias)
                next = one.alias;
        }
        if (next.empty())
            break;
        name = next;
    }
    made[6] = static_cast<std::uint8_t>(count >> 8);
    made[7] = static_cast<std::uint8_t>(count);
    return made;
}

dns_message bare_answer(std::span<const std::uint8_t> as_it_came, const dns_question& asked,
                        dns_status status, bool truncated)
{
    const auto question = as_it_came.first(asked.length);
    dns_message made(question.begin(), question.end());
    made[2] = static_cast<std::uint8_t>(0x85 | (truncated ? 0x02 : 0));  // an answer, ours
    made[3] = static_cast<std::uint8_t>(0x80 | static_cast<std::uint8_t>(status));
    for (std::size_t at = 6; at < header_size; ++at)
        made[at] = 0;
    return made;
}

}  // namespace holdfast::proof
