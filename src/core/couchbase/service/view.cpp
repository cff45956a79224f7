#include "core/couchbase/service/view.hpp"

#include "core/couchbase/service/body_members.hpp"
#include "core/couchbase/service/escape.hpp"
#include "core/uri/percent.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "holdfast/json/reader.hpp"

#include <algorithm>
#include <optional>

namespace holdfast::core::couchbase {

namespace {

using holdfast::couchbase::design_documents;
using holdfast::couchbase::errc;
using holdfast::couchbase::raw_option;
using holdfast::couchbase::view_consistency;
using holdfast::couchbase::view_options;

/// Parameters of the URL. A raw one replaces that of its name.
class view_parameters {
public:
    explicit view_parameters(std::span<const raw_option> raw) : raw_{raw} {}

    template <class Value>
    void add(std::string_view name, const Value& value)
    {
        if (std::ranges::find(raw_, name, &raw_option::name) == raw_.end())
            text_.add(name, value);
    }
    template <class Value>
    void add(std::string_view name, const std::optional<Value>& value)
    {
        if (value)
            add(name, *value);
    }
    void add_if(bool condition, std::string_view name, std::string_view value)
    {
        if (condition)
            add(name, value);
    }
    void add_key(std::string_view name, std::string_view json)
    {
        if (json.empty())
            return;
        if (!problem_)
            problem_ = problem_of_key(name, json);
        add(name, json);
    }

    static std::optional<error> problem_of_key(std::string_view name, std::string_view json)
    {
        json::reader key{json};
        if (key.skip() && key.finish())
            return std::nullopt;
        return error{errc::invalid_argument,
                     "the option \"" + std::string{name} +
                         "\" of a view is not JSON: " + std::move(key).fault().message()}
            .with_context("option", std::string{name});
    }

    const std::optional<error>& problem() const noexcept { return problem_; }

    std::string finish() &&
    {
        for (const raw_option& option : raw_)
            text_.add(option.name, option.json);
        return std::move(text_).text();
    }

private:
    std::span<const raw_option> raw_;
    form_text text_;
    std::optional<error> problem_;
};

std::string_view stale_of(view_consistency consistency)
{
    switch (consistency) {
    case view_consistency::not_bounded: return "ok";
    case view_consistency::update_after: return "update_after";
    case view_consistency::request_plus: return "false";
    }
    return "update_after";
}

void add_range(view_parameters& to, const view_options& options)
{
    to.add_key("key", options.key);
    to.add_key("startkey", options.start_key);
    to.add_key("endkey", options.end_key);
    to.add_if(!options.start_key_document_id.empty(), "startkey_docid",
              options.start_key_document_id);
    to.add_if(!options.end_key_document_id.empty(), "endkey_docid", options.end_key_document_id);
    to.add_if(!options.inclusive_end, "inclusive_end", "false");
}

result<std::string> parameters_of(const view_options& options)
{
    view_parameters made{options.raw};
    made.add("stale", stale_of(options.scan_consistency));
    made.add("limit", options.limit);
    made.add("skip", options.skip);
    made.add_if(options.descending, "descending", "true");
    made.add("reduce", options.reduce);
    made.add_if(options.group, "group", "true");
    made.add("group_level", options.group_level);
    add_range(made, options);
    made.add("on_error", options.stop_on_error ? "stop" : "continue");
    made.add_if(options.debug, "debug", "true");
    if (made.problem())
        return *made.problem();
    return std::move(made).finish();
}

std::string path_of(const view_target& target, const view_options& options)
{
    constexpr std::string_view prefix = "dev_";
    std::string document{target.design_document};
    if (options.from == design_documents::development && !document.starts_with(prefix))
        document.insert(0, prefix);
    std::string path = "/" + uri::percent_encode(target.bucket);
    path.append("/_design/").append(uri::percent_encode(document));
    return path.append("/_view/").append(uri::percent_encode(target.view));
}

result<std::string> body_with_keys(const view_options& options)
{
    std::string keys;
    for (const std::string_view key : options.keys) {
        if (auto problem = view_parameters::problem_of_key("keys", key))
            return *std::move(problem);
        keys.append(keys.empty() ? "" : ",").append(key);
    }
    return R"({"keys":[)" + keys + "]}";
}

}  // namespace

result<service_request> make_view(const view_target& target, const view_options& options)
{
    if (target.bucket.empty() || target.design_document.empty() || target.view.empty())
        return error{errc::invalid_argument,
                     "the names of bucket, design document and view are not to be empty"};
    auto parameters = parameters_of(options);
    if (!parameters)
        return std::move(parameters).error();
    service_request made{.service = service_type::views,
                         .method = http_method::get,
                         .path = path_of(target, options) + "?" + *parameters,
                         .idempotent = is_idempotent(view_request{}),
                         .operation = "view_query"};
    if (options.keys.empty())
        return made;
    auto body = body_with_keys(options);
    if (!body)
        return std::move(body).error();
    made.method = http_method::post;
    made.content_type = json_content;
    made.body = *std::move(body);
    return made;
}

}  // namespace holdfast::core::couchbase
