#include "core/couchbase/service/query.hpp"

#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <boost/json/parse.hpp>

namespace holdfast::core::couchbase::query_test {
namespace {

namespace cb = holdfast::couchbase;
using namespace std::chrono_literals;
using namespace std::string_view_literals;
using boost::json::value;

/// The body of a statement with these options, as the server reads it.
value body_of(const cb::query_options& options, query_form form = query_form::plain,
              const prepared_plan* plan = nullptr)
{
    const auto made = make_query("SELECT 1", options, {});
    EXPECT_TRUE(made) << made.error().message();
    return boost::json::parse(made->request(form, plan, 5s).body);
}

value json(std::string_view text)
{
    return boost::json::parse(text);
}

error problem_of(std::string_view statement, const cb::query_options& options)
{
    auto made = make_query(statement, options, {});
    EXPECT_FALSE(made);
    return made ? error{{}, ""} : std::move(made).error();
}

TEST(query_body, unset_options_are_omitted)
{
    EXPECT_EQ(body_of({}), json(R"({"statement":"SELECT 1","timeout":"5000ms"})"));
}

TEST(query_body, each_option_is_the_member_that_the_service_knows)
{
    struct row { cb::query_options options; std::string_view members; };
    const row table[] = {
        {{.readonly = true}, R"({"readonly":true})"},
        {{.scan_consistency = cb::scan_consistency::request_plus},
         R"({"scan_consistency":"request_plus"})"},
        {{.profile = cb::profile_mode::phases}, R"({"profile":"phases"})"},
        {{.profile = cb::profile_mode::timings}, R"({"profile":"timings"})"},
        {{.metrics = false}, R"({"metrics":false})"},
        {{.flex_index = true}, R"({"use_fts":true})"},
        {{.preserve_expiry = true}, R"({"preserve_expiry":true})"},
        {{.use_replica = true}, R"({"use_replica":"on"})"},
        {{.use_replica = false}, R"({"use_replica":"off"})"},
        {{.scan_wait = 1500ms}, R"({"scan_wait":"1500ms"})"},
        {{.scan_cap = 1}, R"({"scan_cap":"1"})"},
        {{.pipeline_batch = 2}, R"({"pipeline_batch":"2"})"},
        {{.pipeline_cap = 3}, R"({"pipeline_cap":"3"})"},
        {{.max_parallelism = 18446744073709551615u},
         R"({"max_parallelism":"18446744073709551615"})"},
        {{.client_context_id = "my \"id\""}, R"({"client_context_id":"my \"id\""})"},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.members);
        value expected = json(R"({"statement":"SELECT 1","timeout":"5000ms"})");
        const value members = json(r.members);
        for (const auto& member : members.as_object())
            expected.as_object().insert(member);
        EXPECT_EQ(body_of(r.options), expected);
    }
}

TEST(query_body, request_is_a_post_that_is_idempotent_only_if_readonly)
{
    VERIFIES("CR-077");
    for (const bool readonly : {false, true}) {
        const auto made = make_query("SELECT 1", {.readonly = readonly}, {}).value();
        const service_request request = made.request(query_form::plain, nullptr, 1s);
        EXPECT_EQ(request.idempotent, readonly);
        EXPECT_EQ(request.service, service_type::query);
        EXPECT_EQ(request.method, http_method::post);
        EXPECT_EQ(request.path, "/query/service");
        EXPECT_EQ(request.content_type, "application/json");
        EXPECT_TRUE(request.headers.empty());
        EXPECT_EQ(request.operation, "query");
    }
}

TEST(query_body, timeout_is_what_is_left_at_the_attempt)
{
    const auto made = make_query("SELECT 1", {.timeout = 9s}, {}).value();
    const auto timeout = [&](std::chrono::milliseconds left) {
        return json(made.request(query_form::plain, nullptr, left).body).at("timeout").as_string();
    };
    EXPECT_EQ(timeout(75s), "75000ms");
    EXPECT_EQ(timeout(1ms), "1ms");
    EXPECT_EQ(timeout(0ms), "1ms");  // none at all would be no limit
    EXPECT_EQ(timeout(-5ms), "1ms");
}

TEST(query_body, parameters_are_by_position_and_by_name)
{
    const auto both =
        cb::query_parameters{}.add("a\"b"sv).add("n", 1).add(std::vector{2, 3}).add("$m", true);
    EXPECT_EQ(body_of({.parameters = both}), json(R"({"statement":"SELECT 1","timeout":"5000ms",
              "args":["a\"b",[2,3]],"$n":1,"$m":true})"));
    const auto named = cb::named("a", 1);
    EXPECT_EQ(body_of({.parameters = named}).as_object().size(), 3u);
    const cb::query_parameters none;
    EXPECT_EQ(body_of({.parameters = none}), body_of({}));
}

TEST(query_body, consistency_with_changes_is_at_plus_with_their_vectors)
{
    cb::mutation_state seen;
    seen.add(cb::mutation_token{18446744073709551615u, 7, 1023, "b\""});
    seen.add(cb::mutation_token{1, 18446744073709551615u, 0, "b\""});
    seen.add(cb::mutation_token{2, 3, 4, "other"});
    const value body = body_of(
        {.scan_consistency = cb::scan_consistency::request_plus, .consistent_with = &seen});
    EXPECT_EQ(body.at("scan_consistency").as_string(), "at_plus");
    EXPECT_EQ(body.at("scan_vectors"),
              json(R"({"b\"":{"1023":[7,"18446744073709551615"],"0":[18446744073709551615,"1"]},
                       "other":{"4":[3,"2"]}})"));
    const cb::mutation_state nothing;
    EXPECT_EQ(body_of({.consistent_with = &nothing}), body_of({}));
}

TEST(query_body, query_of_a_scope_has_its_context)
{
    const auto made = make_query("SELECT 1", {}, {"b`1", "s"}).value();
    EXPECT_EQ(made.query_context, "default:`b``1`.`s`");
    EXPECT_EQ(json(made.request(query_form::plain, nullptr, 1s).body).at("query_context"),
              json(R"("default:`b``1`.`s`")"));
    EXPECT_EQ(make_query("SELECT 1", {}, {"b", ""}).value().query_context, "");
}

TEST(query_body, id_of_the_options_wins_over_one_that_was_made_up)
{
    const statement_target target{.client_context_id = "drawn"};
    EXPECT_EQ(make_query("SELECT 1", {}, target).value().client_context_id, "drawn");
    const auto own = make_query("SELECT 1", {.client_context_id = "own"}, target).value();
    EXPECT_EQ(own.client_context_id, "own");
    EXPECT_EQ(json(own.request(query_form::plain, nullptr, 1s).body).at("client_context_id"),
              json(R"("own")"));
}

TEST(query_body, raw_options_win)
{
    const cb::raw_option raw[] = {{"readonly", "false"},
                                  {"timeout", R"("7s")"},
                                  {"use_cbo", "[1, {\"a\":null}]"},
                                  {"args", "[9]"}};
    const auto parameters = cb::positional(1);
    EXPECT_EQ(body_of({.parameters = parameters, .readonly = true, .raw = raw}),
              json(R"({"statement":"SELECT 1","readonly":false,"timeout":"7s",
                       "use_cbo":[1,{"a":null}],"args":[9]})"));
}

TEST(query_body, what_no_server_could_take_is_refused)
{
    EXPECT_EQ(problem_of("", {}).message(), "the statement is empty");
    EXPECT_EQ(problem_of("SELECT '\xff'", {}).code(), cb::errc::invalid_argument);
    EXPECT_EQ(problem_of("SELECT 1", {.client_context_id = "\xff"}).context("option"),
              "client_context_id");
    for (const std::string_view json : {"", "{", "1 2", "nul", "1}"}) {
        const cb::raw_option raw[] = {{"x", json}};
        const error problem = problem_of("SELECT 1", {.raw = raw});
        EXPECT_EQ(problem.code(), cb::errc::invalid_argument) << json;
        EXPECT_EQ(problem.context("option"), "x");
    }
    for (const std::string_view name : {"statement", "prepared", "encoded_plan", "auto_execute"}) {
        const cb::raw_option raw[] = {{name, "1"}};
        const error problem = problem_of("SELECT 1", {.raw = raw});
        EXPECT_EQ(problem.code(), cb::errc::invalid_argument);
        EXPECT_EQ(problem.context("option"), name);
    }
}

TEST(query_body, parameter_that_could_not_be_encoded_is_the_error)
{
    const auto parameters = cb::positional("fine"sv, "\xff"sv);
    const error problem = problem_of("SELECT 1", {.parameters = parameters});
    EXPECT_EQ(problem.code(), cb::errc::encoding_failure);
    EXPECT_EQ(problem.context("parameter"), "2");
}

TEST(query_body, each_form_asks_for_the_plan_in_its_own_way)
{
    const cb::query_options options{.prepared = true, .readonly = true};
    const prepared_plan by_name{"[h:1]p\"1", ""};
    const prepared_plan encoded{"p2", "H4sI/+=="};
    EXPECT_EQ(body_of(options, query_form::prepare_and_execute),
              json(R"({"statement":"PREPARE SELECT 1","auto_execute":true,"readonly":true,
                       "timeout":"5000ms"})"));
    EXPECT_EQ(body_of(options, query_form::prepare),
              json(R"({"statement":"PREPARE SELECT 1","readonly":true,"timeout":"5000ms"})"));
    EXPECT_EQ(body_of(options, query_form::execute, &by_name),
              json(R"({"prepared":"[h:1]p\"1","readonly":true,"timeout":"5000ms"})"));
    EXPECT_EQ(body_of(options, query_form::execute, &encoded),
              json(R"({"prepared":"p2","encoded_plan":"H4sI/+==","readonly":true,
                       "timeout":"5000ms"})"));
    EXPECT_EQ(body_of(options, query_form::plain),
              json(R"({"statement":"SELECT 1","readonly":true,"timeout":"5000ms"})"));
}

TEST(query_run, statement_that_is_not_to_be_prepared_goes_as_it_is)
{
    const prepared_plan plan{"p"};
    EXPECT_EQ(query_run(false, true).next(nullptr), query_form::plain);
    EXPECT_EQ(query_run(false, true).next(&plan), query_form::plain);
}

TEST(query_run, cached_plan_is_executed_and_else_the_statement_is_prepared)
{
    const prepared_plan plan{"p"};
    EXPECT_EQ(query_run(true, true).next(&plan), query_form::execute);
    EXPECT_EQ(query_run(true, true).next(nullptr), query_form::prepare_and_execute);
    EXPECT_EQ(query_run(true, false).next(&plan), query_form::execute);
    EXPECT_EQ(query_run(true, false).next(nullptr), query_form::prepare);
}

/// Attempts at a server that loses every plan at once.
int preparations_in(query_run run, bool begins_with_a_plan)
{
    const prepared_plan lost{"lost"};
    int preparations = 0;
    for (int attempt = 0; attempt < 100; ++attempt) {
        const query_form form = run.next(begins_with_a_plan && attempt == 0 ? &lost : nullptr);
        if (form == query_form::plain)
            return preparations;
        if (form != query_form::execute)
            ++preparations;
        if (form == query_form::prepare) {
            EXPECT_EQ(run.next(&lost), query_form::execute);  // the same attempt goes on
        }
        run.plan_was_refused();
    }
    ADD_FAILURE() << "the statement is prepared for ever";
    return preparations;
}

TEST(query_run, statement_is_prepared_at_most_four_times_and_then_sent_as_it_is)
{
    VERIFIES("CR-086");
    for (const bool enhanced : {false, true}) {
        EXPECT_EQ(preparations_in(query_run{true, enhanced}, false), 4);
        EXPECT_EQ(preparations_in(query_run{true, enhanced}, true), 3);
    }
    query_run run{true, true};
    for (std::uint32_t failures = 0; failures < 4; ++failures) {
        EXPECT_EQ(run.prepared_failures(), failures);
        EXPECT_NE(run.next(nullptr), query_form::plain);
        run.plan_was_refused();
    }
    EXPECT_EQ(run.next(nullptr), query_form::plain);
    const prepared_plan of_another_request{"p"};
    EXPECT_EQ(run.next(&of_another_request), query_form::plain);
}

TEST(prepared_plan, plan_is_found_in_metadata_and_in_rows)
{
    EXPECT_EQ(plan_in_metadata(R"({"requestID":"r","prepared":"[h]n","results":[]})"),
              (prepared_plan{"[h]n", ""}));
    for (const char* without : {"{}", "", R"({"prepared":7})", R"({"prepared":""})"})
        EXPECT_EQ(plan_in_metadata(without), std::nullopt) << without;
    EXPECT_EQ(plan_in_row(R"({"encoded_plan":"e","name":"n","operator":{"a":[1]}})").value(),
              (prepared_plan{"n", "e"}));
    EXPECT_EQ(plan_in_row(R"({"name":"n"})").value(), (prepared_plan{"n", ""}));
    for (const char* bad : {"{}", "7", R"({"name":1,"encoded_plan":"e"})", R"({"name")"})
        EXPECT_EQ(plan_in_row(bad).error().code(), cb::errc::decoding_failure) << bad;
}

}  // namespace
}  // namespace holdfast::core::couchbase::query_test
