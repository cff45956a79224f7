#pragma once
#include <boost/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::spec {

/// Why a case failed, thrown from wherever it was noticed.
struct case_failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void demand(bool holds, const std::string& otherwise)
{
    if (!holds)
        throw case_failure{otherwise};
}

/// A field that this runner does not know would demand something that it does not check.
void demand_only(const boost::json::object& fields, std::initializer_list<std::string_view> known);

/// The fields of one case. Fields that are absent or of the wrong kind are failures, for else a
/// misspelt field would be an assertion that is not checked.
class case_fields {
public:
    explicit case_fields(const boost::json::value& fields);

    bool has(std::string_view name) const { return fields_->contains(name); }
    std::string_view text(std::string_view name) const;
    std::optional<std::string_view> text_if(std::string_view name) const;
    std::vector<std::uint8_t> bytes(std::string_view name) const;  // from hexadecimal digits
    bool flag(std::string_view name, bool otherwise) const;
    std::int64_t number(std::string_view name, std::int64_t otherwise) const;
    const boost::json::array& list(std::string_view name) const;

    void demand_only(std::initializer_list<std::string_view> known) const
    {
        spec::demand_only(*fields_, known);
    }

private:
    const boost::json::value& at(std::string_view name) const;

    const boost::json::object* fields_;
};

/// The description of a case, or a text that says it has none.
std::string description_of(const boost::json::value& fields);

std::string hex(std::span<const std::uint8_t> bytes);

/// Throws if the text is no even number of hexadecimal digits.
std::vector<std::uint8_t> bytes_from_hex(std::string_view digits);

}  // namespace holdfast::spec
