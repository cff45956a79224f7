#include "case_fields.hpp"

#include <algorithm>

namespace holdfast::spec {

using namespace std::string_literals;

namespace {

[[noreturn]] void wrong_kind(std::string_view name, const char* expected)
{
    throw case_failure{"the file's field "s.append(name).append(" is not ").append(expected)};
}

std::uint8_t digit(char c)
{
    if (c >= '0' && c <= '9')
        return static_cast<std::uint8_t>(c - '0');
    if (c >= 'A' && c <= 'F')
        return static_cast<std::uint8_t>(c - 'A' + 10);
    if (c >= 'a' && c <= 'f')
        return static_cast<std::uint8_t>(c - 'a' + 10);
    throw case_failure{"not a hexadecimal digit: "s + c};
}

}  // namespace

case_fields::case_fields(const boost::json::value& fields) : fields_{fields.if_object()}
{
    demand(fields_ != nullptr, "the case is not a JSON object");
}

const boost::json::value& case_fields::at(std::string_view name) const
{
    const boost::json::value* const found = fields_->if_contains(name);
    demand(found != nullptr, "the file has no field "s.append(name));
    return *found;
}

std::string_view case_fields::text(std::string_view name) const
{
    const boost::json::string* const found = at(name).if_string();
    if (!found)
        wrong_kind(name, "a string");
    return {found->data(), found->size()};
}

std::optional<std::string_view> case_fields::text_if(std::string_view name) const
{
    return has(name) ? std::optional{text(name)} : std::nullopt;
}

std::vector<std::uint8_t> case_fields::bytes(std::string_view name) const
{
    return bytes_from_hex(text(name));
}

bool case_fields::flag(std::string_view name, bool otherwise) const
{
    if (!has(name))
        return otherwise;
    const bool* const found = at(name).if_bool();
    if (!found)
        wrong_kind(name, "true or false");
    return *found;
}

std::int64_t case_fields::number(std::string_view name, std::int64_t otherwise) const
{
    if (!has(name))
        return otherwise;
    const std::int64_t* const found = at(name).if_int64();
    if (!found)
        wrong_kind(name, "an integer");
    return *found;
}

const boost::json::array& case_fields::list(std::string_view name) const
{
    const boost::json::array* const found = at(name).if_array();
    if (!found)
        wrong_kind(name, "an array");
    return *found;
}

void demand_only(const boost::json::object& fields, std::initializer_list<std::string_view> known)
{
    for (const auto& field : fields)
        demand(std::ranges::find(known, std::string_view{field.key()}) != known.end(),
               "the runner does not know what this field demands: "s.append(field.key()));
}

std::string description_of(const boost::json::value& fields)
{
    const boost::json::object* const object = fields.if_object();
    const boost::json::value* const found = object ? object->if_contains("description") : nullptr;
    if (!found || !found->is_string())
        return "(no description)";
    return std::string{found->get_string()};
}

std::string hex(std::span<const std::uint8_t> bytes)
{
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const std::uint8_t byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

std::vector<std::uint8_t> bytes_from_hex(std::string_view digits)
{
    demand(digits.size() % 2 == 0, "an odd number of hexadecimal digits");
    std::vector<std::uint8_t> bytes;
    bytes.reserve(digits.size() / 2);
    for (std::size_t at = 0; at < digits.size(); at += 2)
        bytes.push_back(static_cast<std::uint8_t>(digit(digits[at]) << 4 | digit(digits[at + 1])));
    return bytes;
}

}  // namespace holdfast::spec
