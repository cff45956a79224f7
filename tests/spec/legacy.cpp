#include "case_fields.hpp"
#include "format.hpp"

namespace holdfast::spec {
namespace {

namespace json = boost::json;

/// Files of client-side encryption are still written as all were before the unified format: the
/// file names one database, and has no schema version.
bool is_legacy(const json::object& file)
{
    return !file.contains("schemaVersion") && file.contains("database_name") &&
           file.contains("tests");
}

outcome skip_legacy(const settings&)
{
    return skipped{"the legacy format, which is not supported"};
}

std::vector<test_case> legacy_cases(const json::object& file)
{
    std::vector<test_case> made;
    for (const json::value& one : file.at("tests").as_array())
        made.push_back({description_of(one), skip_legacy});
    return made;
}

}  // namespace

const format legacy_tests{"legacy", is_legacy, legacy_cases};

}  // namespace holdfast::spec
