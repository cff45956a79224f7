#include "core/mongo/settings/concern.hpp"

#include "uri_case.hpp"

#include <chrono>

namespace holdfast::spec {
namespace {

namespace json = boost::json;

core::mongo::read_concern read_concern_of(const json::object& fields)
{
    demand_only(fields, {"level"});
    return {stated_text(fields, "level")};
}

core::mongo::write_concern write_concern_of(const json::object& fields)
{
    demand_only(fields, {"w", "wtimeoutMS", "journal"});
    core::mongo::write_concern made;
    if (const json::value* w = stated(fields, "w")) {
        if (w->is_string())
            made.w = std::string{w->get_string()};
        else
            made.w = w->to_number<std::int32_t>();
    }
    if (const json::value* wait = stated(fields, "wtimeoutMS"))
        made.wtimeout = std::chrono::milliseconds{wait->as_int64()};
    made.journal = stated_flag(fields, "journal");
    return made;
}

/// The fields of two documents in any order; numbers by value.
void demand_same(bson::view found, const json::object& expected)
{
    std::size_t count = 0;
    for (const bson::element e : found) {
        ++count;
        const json::value* const wanted = expected.if_contains(std::string_view{e.key()});
        demand(wanted != nullptr, "unexpected field " + std::string{e.key()});
        bool same = false;
        if (wanted->is_string())
            same = e.type() == bson::type::string && e.as_string() == wanted->get_string();
        else if (wanted->is_bool())
            same = e.type() == bson::type::boolean && e.as_bool() == wanted->get_bool();
        else
            same = e.get<std::int64_t>().value_or(-1) == wanted->as_int64();
        demand(same, "field " + std::string{e.key()} + ": expected " + json::serialize(*wanted));
    }
    demand(count == expected.size(), "expected " + json::serialize(expected));
}

/// The tests of URI options want a warning for a negative timeout where those of concerns want an
/// error: for these, a null `warning` leaves open by which of the two a value is refused.
outcome run_string(const json::value& c, const settings& options)
{
    const json::object& fields = c.as_object();
    demand_only(fields, {"description", "uri", "valid", "warning", "readConcern", "writeConcern"});
    if (!fields.at("valid").as_bool() && !stated(fields, "warning")) {
        const auto parsed = core::mongo::parse_uri(std::string_view{fields.at("uri").as_string()});
        const bool refused = !parsed || (!parsed->warnings.empty() &&
                                         parsed->settings.read_concern.is_default() &&
                                         parsed->settings.write_concern.is_default());
        demand(refused, "the value was neither refused nor ignored with a warning");
        return passed{};
    }
    const auto parsed = parse_as_expected(fields, options);
    if (!parsed)
        return passed{};
    check_warning(fields, *parsed);
    if (const json::value* wanted = stated(fields, "readConcern"))
        demand(parsed->settings.read_concern == read_concern_of(wanted->as_object()),
               "expected the read concern " + json::serialize(*wanted));
    if (const json::value* wanted = stated(fields, "writeConcern"))
        demand(parsed->settings.write_concern == write_concern_of(wanted->as_object()),
               "expected the write concern " + json::serialize(*wanted));
    return passed{};
}

template <class Concern>
void check_document(const Concern& made, const json::object& fields, std::string_view document)
{
    if (const auto is_default = stated_flag(fields, "isServerDefault"))
        demand(made.is_default() == *is_default, "isServerDefault differs");
    if (const json::value* expected = stated(fields, document))
        demand_same(core::mongo::to_document(made), expected->as_object());
}

outcome run_document(const json::value& c, const settings&)
{
    const json::object& fields = c.as_object();
    demand_only(fields,
                {"description", "valid", "readConcern", "readConcernDocument", "writeConcern",
                 "writeConcernDocument", "isServerDefault", "isAcknowledged"});
    if (const json::value* given = stated(fields, "readConcern")) {
        demand(fields.at("valid").as_bool(), "a read concern is always valid");
        check_document(read_concern_of(given->as_object()), fields, "readConcernDocument");
    }
    if (const json::value* given = stated(fields, "writeConcern")) {
        const core::mongo::write_concern made = write_concern_of(given->as_object());
        const auto checked = core::mongo::check(made);
        demand(checked.has_value() == fields.at("valid").as_bool(),
               checked ? "the write concern was accepted" : checked.error().explain());
        check_document(made, fields, "writeConcernDocument");
        if (const auto acknowledged = stated_flag(fields, "isAcknowledged"))
            demand(made.is_acknowledged() == *acknowledged, "isAcknowledged differs");
    }
    return passed{};
}

bool recognises_string(const json::object& file)
{
    return any_case_has(file, "uri") &&
           (any_case_has(file, "readConcern") || any_case_has(file, "writeConcern"));
}

bool recognises_document(const json::object& file)
{
    return any_case_has(file, "readConcernDocument") || any_case_has(file, "writeConcernDocument");
}

std::vector<test_case> string_cases(const json::object& file)
{
    demand_only(file, {"tests"});
    return each_case(file, run_string);
}

std::vector<test_case> document_cases(const json::object& file)
{
    demand_only(file, {"tests"});
    return each_case(file, run_document);
}

}  // namespace

const format concern_string{"concern-connection-string", recognises_string, string_cases};
const format concern_document{"concern-document", recognises_document, document_cases};

}  // namespace holdfast::spec
