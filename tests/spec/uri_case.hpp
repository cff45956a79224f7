#pragma once
#include "case_fields.hpp"
#include "core/mongo/uri/uri.hpp"
#include "format.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::spec {

/// What the formats around connection strings have in common: a list of cases under "tests".
/// Whether some case has a field; false if the file is not built that way.
bool any_case_has(const boost::json::object& file, std::string_view field);

using case_runner = outcome (*)(const boost::json::value& fields, const settings& options);
std::vector<test_case> each_case(const boost::json::object& file, case_runner run);

/// A field that is null, or not there, leaves open what it is about.
const boost::json::value* stated(const boost::json::object& fields, std::string_view name);
std::optional<bool> stated_flag(const boost::json::object& fields, std::string_view name);
std::optional<std::string> stated_text(const boost::json::object& fields, std::string_view name);

void demand_equal(const std::optional<std::string>& found,
                  const std::optional<std::string>& expected, std::string_view what);

/// A password, to be compared with what a file states.
std::optional<std::string> text_of(const std::optional<secret>& kept);

/// Values as a connection string would have them, one per occurrence: true is "true", {a: "b"} is
/// "a:b", a list of strings is joined by commas, a list of objects is several values.
std::vector<std::string> as_written(const boost::json::value& value);

/// Parses, under the profile that the case is run under; throws unless the string is as valid as
/// expected. Nothing for one that is rightly refused.
std::optional<core::mongo::parsed_uri> parse_as_expected(const boost::json::object& fields,
                                                         const settings& options);

/// Throws unless there were warnings, or none, as the case states.
void check_warning(const boost::json::object& fields, const core::mongo::parsed_uri& parsed);

}  // namespace holdfast::spec
