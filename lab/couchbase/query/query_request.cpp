#include "lab/couchbase/query/query_request.hpp"

#include "lab/couchbase/n1ql/parser.hpp"
#include "lab/couchbase/n1ql/query_error.hpp"
#include "lab/couchbase/n1ql/value.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

namespace json = boost::json;
using n1ql::query_code;
using n1ql::view;

constexpr std::size_t longest_context_id = 64;
constexpr std::size_t most_vbuckets = 1024;

/// What servers take that makes no difference here.
constexpr std::string_view ignored_parameters[] = {
    "atrcollection",
    "compression",
    "controls",
    "creds",
    "durability_level",
    "encoding",
    "error_limit",
    "format",
    "kvtimeout",
    "max_parallelism",
    "memory_quota",
    "namespace",
    "numatrs",
    "pipeline_batch",
    "pipeline_cap",
    "pretty",
    "scan_cap",
    "tximplicit",
    "txtimeout",
    "use_cbo",
    "use_fts",
    "use_replica",
    "sort_projection",
    "format-null-as-missing",
    "mode",
    "priority",
    "source",
    "job",
    "client-type",
    "max-warnings",
};

error wrong_type(std::string_view name, std::string_view type)
{
    return n1ql::refuse(query_code::type_mismatch,
                        std::string{name} + " has to be of type " + std::string{type});
}

error wrong_value(std::string_view name)
{
    return n1ql::refuse(query_code::bad_value, "Error processing " + std::string{name});
}

result<void> read_text(std::string_view name, const json::value& from, std::string& into)
{
    const json::string* const text = from.if_string();
    if (!text)
        return wrong_type(name, "string");
    into = view(*text);
    return {};
}

result<void> read_flag(std::string_view name, const json::value& from, bool& into)
{
    if (const bool* const flag = from.if_bool()) {
        into = *flag;
        return {};
    }
    const json::string* const text = from.if_string();  // of a form
    if (!text || (*text != "true" && *text != "false"))
        return wrong_type(name, "boolean");
    into = *text == "true";
    return {};
}

result<void> read_time(std::string_view name, const json::value& from,
                       std::optional<std::chrono::nanoseconds>& into)
{
    std::string text;
    if (auto fine = read_text(name, from, text); !fine)
        return fine;
    const auto read = read_duration(text);
    if (!read)
        return n1ql::refuse(query_code::bad_value,
                            "Error processing duration value " + text +
                                ": missing or incorrect unit (valid units: ns, us, ms, s, m, h)");
    if (read->count() > 0)
        into = read;
    return {};
}

result<index_position> read_position(const json::value& from)
{
    const json::array* const pair = from.if_array();
    if (!pair || pair->size() != 2)
        return n1ql::refuse(query_code::bad_scan_vector,
                            "Array " + n1ql::json_text(from) + " should be of length 2");
    boost::system::error_code wrong;
    index_position made;
    made.seqno = (*pair)[0].to_number<std::uint64_t>(wrong);
    const json::string* const uuid = (*pair)[1].if_string();
    if (wrong || !uuid)
        return n1ql::refuse(query_code::bad_scan_vector,
                            "Bad sequence number or UUID in a scan vector");
    std::from_chars(uuid->begin(), uuid->end(), made.uuid);
    return made;
}

/// {"12": [3, "uuid"]}, or an array of all vbuckets.
result<index_positions> read_vector(const json::value& from)
{
    index_positions made;
    if (const json::array* const all = from.if_array()) {
        if (all->size() > most_vbuckets)
            return wrong_type("scan_vector", "array of 1024 entries");
        for (std::size_t n = 0; n != all->size(); ++n) {
            auto position = read_position((*all)[n]);
            if (!position)
                return std::move(position).error();
            made[static_cast<std::uint16_t>(n)] = *position;
        }
        return made;
    }
    const json::object* const some = from.if_object();
    if (!some)
        return wrong_type("scan_vector", "object");
    for (const auto& [name, value] : *some) {
        std::uint16_t vbucket = 0;
        const auto read = std::from_chars(name.data(), name.data() + name.size(), vbucket);
        auto position = read_position(value);
        if (read.ec != std::errc{} || read.ptr != name.data() + name.size())
            return wrong_value("scan_vector");
        if (!position)
            return std::move(position).error();
        made[vbucket] = *position;
    }
    return made;
}

class parameter_reader {
public:
    explicit parameter_reader(query_request& into) noexcept : into_{into} {}

    result<void> take(std::string_view name, const json::value& value);
    /// When all have been taken.
    result<void> check();

private:
    using text_member = std::string query_request::*;
    using flag_member = bool query_request::*;

    result<void> take_other(std::string_view name, const json::value& value);
    result<void> read_consistency(const json::value& from);
    result<void> read_vectors(std::string_view name, const json::value& from);

    query_request& into_;
};

result<void> parameter_reader::take(std::string_view name, const json::value& value)
{
    constexpr std::pair<std::string_view, text_member> texts[] = {
        {"statement", &query_request::statement},
        {"prepared", &query_request::prepared},
        {"encoded_plan", &query_request::encoded_plan},
        {"client_context_id", &query_request::client_context_id},
        {"query_context", &query_request::query_context},
        {"profile", &query_request::profile},
    };
    constexpr std::pair<std::string_view, flag_member> flags[] = {
        {"readonly", &query_request::readonly},
        {"metrics", &query_request::metrics},
        {"signature", &query_request::signature},
        {"auto_execute", &query_request::auto_execute},
        {"preserve_expiry", &query_request::preserve_expiry},
    };
    if (name == "prepared" && !value.is_string())
        return n1ql::refuse(query_code::unrecognized_prepared, "Unrecognizable prepared statement");
    for (const auto& [known, member] : texts) {
        if (known == name)
            return read_text(name, value, into_.*member);
    }
    for (const auto& [known, member] : flags) {
        if (known == name)
            return read_flag(name, value, into_.*member);
    }
    return take_other(name, value);
}

result<void> parameter_reader::take_other(std::string_view name, const json::value& value)
{
    if (name.starts_with('$')) {
        const std::string_view bare = name.substr(1);
        into_.named[json::string_view{bare.data(), bare.size()}] = value;
        return {};
    }
    if (name == "args") {
        const json::array* const all = value.if_array();
        if (!all)
            return wrong_type(name, "array");
        into_.positional = *all;
        return {};
    }
    if (name == "timeout")
        return read_time(name, value, into_.timeout);
    if (name == "scan_wait")
        return read_time(name, value, into_.scan_wait);
    if (name == "scan_consistency")
        return read_consistency(value);
    if (name == "scan_vector" || name == "scan_vectors")
        return read_vectors(name, value);
    if (std::ranges::find(ignored_parameters, name) == std::ranges::end(ignored_parameters))
        return n1ql::refuse(query_code::unrecognized_parameter,
                            "Unrecognized parameter in request: " + std::string{name});
    return {};
}

result<void> parameter_reader::read_consistency(const json::value& from)
{
    std::string text;
    if (auto fine = read_text("scan_consistency", from, text); !fine)
        return fine;
    if (text == "request_plus" || text == "statement_plus")
        into_.consistency = scan_consistency::request_plus;
    else if (text == "at_plus")
        into_.consistency = scan_consistency::at_plus;
    else if (text != "not_bounded")
        return n1ql::refuse(query_code::unrecognized_value,
                            "Unknown scan_consistency value: " + text);
    return {};
}

result<void> parameter_reader::read_vectors(std::string_view name, const json::value& from)
{
    if (name == "scan_vector") {
        auto made = read_vector(from);
        if (!made)
            return std::move(made).error();
        into_.vectors[""] = *std::move(made);
        return {};
    }
    const json::object* const all = from.if_object();
    if (!all)
        return wrong_type(name, "object");
    for (const auto& [bucket, value] : *all) {
        auto made = read_vector(value);
        if (!made)
            return std::move(made).error();
        into_.vectors[std::string{bucket.data(), bucket.size()}] = *std::move(made);
    }
    return {};
}

result<void> parameter_reader::check()
{
    if (into_.statement.empty() && into_.prepared.empty())
        return n1ql::refuse(query_code::missing_value, "No statement or prepared value");
    if (into_.consistency == scan_consistency::at_plus && into_.vectors.empty())
        return n1ql::refuse(query_code::missing_value, "No scan_vector value");
    if (into_.vectors.contains("") && into_.vectors.size() != 1)
        return n1ql::refuse(query_code::multiple_values,
                            "Multiple values for scan_vector and scan_vectors.");
    if (into_.client_context_id.find_first_of("\"\\") != std::string::npos)
        return n1ql::refuse(query_code::client_id,
                            "forbidden character (\\ or \") in client_context_id");
    if (into_.client_context_id.size() > longest_context_id)
        into_.client_context_id.resize(longest_context_id);
    if (into_.profile == "off")
        into_.profile.clear();
    if (into_.query_context.empty())
        return {};
    auto context = n1ql::parse_context(into_.query_context);
    if (!context)
        return wrong_value("query_context");
    into_.context = *std::move(context);
    return {};
}

/// A form has JSON in some of its fields.
json::value form_value(std::string_view name, std::string_view text)
{
    const bool is_json = name.starts_with('$') || name == "args" || name.starts_with("scan_vector");
    if (is_json) {
        if (const n1ql::value read = n1ql::read_json(text))
            return *read;
    }
    return n1ql::text(text);
}

result<json::object> fields_of(const http_request& from)
{
    const bool has_json = from.content_type.starts_with("application/json");
    if (has_json && from.method == "POST") {
        n1ql::value body = n1ql::read_json(from.body);
        if (!body || !body->is_object())
            return wrong_value("JSON body");
        return std::move(body->get_object());
    }
    const auto form = read_form(from.method == "POST" ? from.body : from.query);
    if (!form)
        return wrong_value("request form");
    json::object made;
    for (const auto& [name, text] : *form)
        made[name] = form_value(name, text);
    return made;
}

}  // namespace

result<query_request> read_query_request(const http_request& from)
{
    auto fields = fields_of(from);
    if (!fields)
        return std::move(fields).error();
    query_request made;
    made.readonly = from.method == "GET";
    parameter_reader reader{made};
    for (const auto& [name, value] : *fields) {
        if (auto fine = reader.take({name.data(), name.size()}, value); !fine)
            return std::move(fine).error();
    }
    if (auto fine = reader.check(); !fine)
        return std::move(fine).error();
    return made;
}

std::string client_context_id_of(const http_request& from)
{
    const auto fields = fields_of(from);
    const json::value* const found = fields ? fields->if_contains("client_context_id") : nullptr;
    const json::string* const text = found ? found->if_string() : nullptr;
    const bool usable = text && text->size() <= longest_context_id &&
                        text->find_first_of("\"\\") == json::string::npos;
    return usable ? std::string{view(*text)} : std::string{};
}

std::optional<std::chrono::nanoseconds> read_duration(std::string_view text)
{
    struct unit {
        std::string_view name;
        double nanoseconds;
    };
    constexpr unit units[] = {{"ns", 1},  {"us", 1e3}, {"\xc2\xb5s", 1e3}, {"ms", 1e6},
                              {"s", 1e9}, {"m", 6e10}, {"h", 3.6e12}};
    constexpr double longest = 9e18;
    if (text == "0")
        return std::chrono::nanoseconds{0};
    double sum = 0;
    while (!text.empty()) {
        double count = 0;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
        if (read.ec != std::errc{} || count < 0)
            return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
        const std::size_t end = std::min(text.find_first_of("0123456789."), text.size());
        const auto found = std::ranges::find(units, text.substr(0, end), &unit::name);
        if (found == std::ranges::end(units))
            return std::nullopt;
        text.remove_prefix(end);
        sum += count * found->nanoseconds;
        if (!(sum < longest))
            return std::nullopt;
    }
    return std::chrono::nanoseconds{static_cast<std::int64_t>(sum)};
}

std::string duration_text(std::chrono::nanoseconds of)
{
    if (of.count() == 0)
        return "0s";
    char digits[40];
    const auto [end, failed] = std::to_chars(digits, digits + sizeof digits,
                                             static_cast<double>(of.count()) / 1e6);
    (void)failed;
    return std::string{digits, end} + "ms";
}

}  // namespace holdfast::lab::couchbase
