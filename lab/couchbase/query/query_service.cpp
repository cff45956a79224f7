#include "lab/couchbase/query/query_service.hpp"

#include "lab/couchbase/cluster/node_service.hpp"
#include "lab/couchbase/http/reply_text.hpp"
#include "lab/couchbase/n1ql/parser.hpp"
#include "lab/couchbase/n1ql/query_error.hpp"
#include "lab/couchbase/query/query_run.hpp"

#include <optional>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

using n1ql::query_code;

reply_facts facts_of(const query_request& asked)
{
    return {asked.client_context_id, {}, asked.metrics, asked.signature, asked.profile};
}

/// What a request is to run, and how its reply begins.
struct found_statement {
    n1ql::statement_ptr of = {};
    std::string shown_plan = {};  // in the member "prepared"
    n1ql::json::value row = {};  // the answer to PREPARE
};

class query_service final : public node_service {
public:
    query_service(cluster& of, std::size_t number, runtime::world& in)
        : node_service{of, number, "n1ql", in}, index_{of, number, in}
    {
        query_definitions_of(of).plans.erase(number);
    }

    http_reply answer(const http_request& what) override { return answer_under(what, {}); }
    http_reply answer_under(const http_request& what, const http_fault& hit) override;

private:
    http_reply run(const http_request& what, const std::string& user, const http_fault& hit);
    result<found_statement> find(query_request& asked);
    result<found_statement> prepare(const n1ql::statement& text, const query_request& asked);
    result<found_statement> execute(const n1ql::execute_statement& what, query_request& asked);
    result<query_plan> plan_of(const std::string& name, const query_request& asked);
    http_reply refused(const http_request& what, const error& reason)
    {
        return refused_query(query_style, {client_context_id_of(what)}, world_,
                             query_style.show(reason));
    }

    node_index index_;
};

http_reply query_service::answer_under(const http_request& what, const http_fault& hit)
{
    if (what.path == "/admin/ping") {
        http_reply made;
        made.body = "{}";
        return made;
    }
    if (what.path != "/query/service" && what.path != "/query")
        return refuse(404, "Object Not Found");
    if (what.method != "POST" && what.method != "GET")
        return refused(what, n1ql::refuse(query_code::unsupported_method,
                                          "Unsupported http method: " + what.method));
    const auto user = user_of(what);
    if (!user) {
        http_reply made = refused(
            what, n1ql::refuse(query_code::wrong_login, "Unable to authorize user."));
        made.headers = ask_for_login().headers;
        return made;
    }
    return run(what, *user, hit);
}

http_reply query_service::run(const http_request& what, const std::string& user,
                              const http_fault& hit)
{
    auto asked = read_query_request(what);
    if (!asked)
        return refused(what, asked.error());
    auto found = find(*asked);
    const bool planned = hit.rows.error_code != 0 && !hit.rows.after_rows;
    if (!found && !planned)
        return refused(what, found.error());
    if (!found)
        found = found_statement{*n1ql::parse("SELECT 1")};
    if (asked->readonly && found->row.is_null() && !found->of->only_reads())
        return refused(what,
                       n1ql::refuse(query_code::read_only,
                                    "The server or request is read-only and cannot accept this "
                                    "write statement."));
    reply_facts facts = facts_of(*asked);
    facts.prepared = std::move(found->shown_plan);
    auto store = std::make_unique<cluster_store>(
        store_access{on_, number_, world_, index_, user, asked->context});
    return run_query({query_style, *std::move(asked), std::move(facts), std::move(found->of),
                      std::move(store), index_, world_, hit.rows,
                      query_definitions_of(on_).counter(number_), std::move(found->row)});
}

result<found_statement> query_service::find(query_request& asked)
{
    if (!asked.prepared.empty()) {
        auto plan = plan_of(asked.prepared, asked);
        if (!plan)
            return std::move(plan).error();
        return found_statement{plan->of};
    }
    auto parsed = n1ql::parse(asked.statement);
    if (!parsed)
        return std::move(parsed).error();
    if (std::holds_alternative<n1ql::prepare_statement>((*parsed)->is))
        return prepare(**parsed, asked);
    if (const auto* const run = std::get_if<n1ql::execute_statement>(&(*parsed)->is))
        return execute(*run, asked);
    return found_statement{*std::move(parsed)};
}

result<query_plan> query_service::plan_of(const std::string& name, const query_request& asked)
{
    if (const query_plan* const known = find_plan(on_, number_, name, asked.query_context))
        return query_plan{*known};
    if (asked.encoded_plan.empty())
        return n1ql::refuse(query_code::no_such_prepared,
                            "No such prepared statement: " + name + ", context: " +
                                (asked.query_context.empty() ? "unset" : asked.query_context));
    auto decoded = decode_plan(asked.encoded_plan);
    if (!decoded)
        return std::move(decoded).error();
    if (decoded->context != asked.query_context)
        return n1ql::refuse(query_code::prepared_mismatch,
                            "Encoded plan parameter does not match encoded plan of " + name);
    keep_plan(on_, number_, name, *decoded);
    return decoded;
}

/// With auto_execute it runs at once; else its plan is the only row.
result<found_statement> query_service::prepare(const n1ql::statement& text,
                                               const query_request& asked)
{
    const auto& what = *std::get_if<n1ql::prepare_statement>(&text.is);
    const query_plan plan{what.of, asked.query_context};
    const std::string name = what.name.empty() ? plan_name(on_, number_, plan) : what.name;
    keep_plan(on_, number_, name, plan);
    if (asked.auto_execute)
        return found_statement{what.of, name, {}};
    return found_statement{what.of,
                           {},
                           n1ql::json::object{{"encoded_plan", n1ql::text(encode_plan(plan))},
                                              {"featureControls", 0},
                                              {"indexApiVersion", 4},
                                              {"name", n1ql::text(name)},
                                              {"namespace", "default"},
                                              {"operator", n1ql::plan_of(*what.of)},
                                              {"queryContext", n1ql::text(asked.query_context)},
                                              {"signature", n1ql::signature_of(*what.of)},
                                              {"text", n1ql::text(what.of->text)}}};
}

/// EXECUTE name USING arguments, which take the place of those of the request.
result<found_statement> query_service::execute(const n1ql::execute_statement& what,
                                               query_request& asked)
{
    auto plan = plan_of(what.name, asked);
    if (!plan)
        return std::move(plan).error();
    if (!what.arguments)
        return found_statement{plan->of};
    n1ql::environment in{&asked.named, &asked.positional};
    n1ql::value given = n1ql::evaluate(*what.arguments, {}, in);
    if (in.failed)
        return error{*in.failed};
    if (given && given->is_array())
        asked.positional = std::move(given->get_array());
    else if (given && given->is_object())
        asked.named = std::move(given->get_object());
    else
        return n1ql::refuse(query_code::bad_value, "Error processing USING arguments");
    return found_statement{plan->of};
}

}  // namespace

std::unique_ptr<http_service> make_query_service(cluster& of, std::size_t number,
                                                 runtime::world& in)
{
    return std::make_unique<query_service>(of, number, in);
}

}  // namespace holdfast::lab::couchbase
