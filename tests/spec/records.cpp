#include "records.hpp"

#include <stdexcept>

namespace holdfast::spec {

namespace json = boost::json;

namespace {

std::string text_at(const json::object& fields, std::string_view name)
{
    return std::string{fields.at(name).as_string()};
}

outcome outcome_from(std::string_view kind, std::string reason)
{
    if (kind == "failed")
        return failed{std::move(reason)};
    if (kind == "skipped")
        return skipped{std::move(reason)};
    return passed{};
}

json::value to_value(const case_result& one)
{
    const auto [came, reason] = to_text(one.came);
    return {{"kind", "case"},         {"file", one.file}, {"description", one.description},
            {"profile", one.profile}, {"outcome", came},  {"reason", reason}};
}
json::value to_value(const applied_exception& one)
{
    return {{"kind", "exception"}, {"text", one.text}};
}
json::value to_value(const unknown_file& one)
{
    return {{"kind", "unknown"}, {"file", one.file}};
}

}  // namespace

outcome_text to_text(const outcome& came)
{
    if (const auto* const f = std::get_if<failed>(&came))
        return {"failed", f->why};
    if (const auto* const s = std::get_if<skipped>(&came))
        return {"skipped", s->reason};
    return {"passed", {}};
}

std::string to_line(const record& one)
{
    return json::serialize(std::visit([](const auto& each) { return to_value(each); }, one));
}

record record_from_line(std::string_view line)
{
    json::parse_options any_bytes;
    any_bytes.allow_invalid_utf8 = true;  // a reason may quote a string of a test file
    const json::value parsed = json::parse({line.data(), line.size()}, {}, any_bytes);
    const json::object& fields = parsed.as_object();
    const std::string kind = text_at(fields, "kind");
    if (kind == "exception")
        return applied_exception{text_at(fields, "text")};
    if (kind == "unknown")
        return unknown_file{text_at(fields, "file")};
    if (kind != "case")
        throw std::invalid_argument{"no record of a case: " + kind};
    return case_result{text_at(fields, "file"), text_at(fields, "description"),
                       text_at(fields, "profile"),
                       outcome_from(text_at(fields, "outcome"), text_at(fields, "reason"))};
}

}  // namespace holdfast::spec
