#include "sdam_fixture.hpp"
#include "support/verifies.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/errc.hpp>

/// Where errors come from, and which kind each of them is.
namespace holdfast::core::mongo::sdam_test::error_source_test {
namespace {

using enum connection_phase;

const std::string both = R"("a", "b")";

topology_ptr with_primary()
{
    return after(start({"a", "b"}), {primary("a", both), secondary("b", both)});
}

/// "unknown clear check cancel": what became of server a, and what is to be done with it.
std::string outcome(const transition& t)
{
    std::string text = is_unknown(t.after->find(at("a"))->type) ? "unknown" : "";
    const auto received = [&](const names& of, std::string_view token) {
        for (const std::string& server : of)
            text.append(" ").append(token).append(server == "a" ? "" : " " + server);
    };
    received(servers_of<clear_pool>(t), "clear");
    received(servers_of<request_check>(t), "check");
    received(servers_of<cancel_check>(t), "cancel");
    return text;
}

struct source_row {
    const char* what;
    failure_kind kind;
    connection_phase phase;
    const char* reply;
    const char* expected;
};

const source_row sources[] = {
    {"no connection", failure_kind::network, connecting, "{}", "unknown clear cancel"},
    {"no connection in time", failure_kind::timeout, connecting, "{}", "unknown clear"},
    {"hello refused", failure_kind::command, connecting, R"({"ok": 0, "code": 2})",
     "unknown clear"},
    {"broken at login", failure_kind::network, authenticating, "{}", "unknown clear cancel"},
    {"silent at login", failure_kind::timeout, authenticating, "{}", "unknown clear"},
    {"login refused", failure_kind::authentication, authenticating, R"({"ok": 0, "code": 18})",
     "unknown clear"},
    {"shut down at login", failure_kind::command, authenticating, R"({"ok": 0, "code": 91})",
     "unknown clear check"},
    {"broken", failure_kind::network, ready, "{}", "unknown clear cancel"},
    {"silent", failure_kind::timeout, ready, "{}", ""},
    {"command refused", failure_kind::command, ready, R"({"ok": 0, "code": 10107})",
     "unknown check"},
    {"command failed", failure_kind::command, ready, R"({"ok": 0, "code": 11000})", ""},
    {"write concern failed", failure_kind::command, ready,
     R"({"ok": 1, "writeConcernError": {"code": 91}})", "unknown clear check"},
};

TEST(error_source, every_source_is_classified_and_applied_once)
{
    VERIFIES("SD-166");
    for (const source_row& r : sources) {
        SCOPED_TRACE(r.what);
        const bson::document reply = json(r.reply);
        application_error e = failing("a", r.kind, r.phase);
        e.reply = reply;
        const transition t = after_error(with_primary(), e);
        EXPECT_EQ(outcome(t), r.expected);
        const bool lost = std::string_view{r.expected}.starts_with("unknown");
        EXPECT_EQ(count_of<server_description_changed>(t), lost ? 1 : 0);
        EXPECT_FALSE(is_unknown(t.after->find(at("b"))->type)) << "the others are not blamed";
        if (servers_of<clear_pool>(t).empty())
            continue;
        const transition again = after_error(with_primary(), e, e.generation + 1);
        EXPECT_EQ(outcome(again), "") << "the pool was cleared because of it";
    }
}

TEST(error_source, state_change_that_refuses_hello_or_login_requests_a_check)
{
    for (const connection_phase phase : {connecting, authenticating}) {
        application_error e = failing("a", failure_kind::authentication, phase);
        e.refusal = 18;
        EXPECT_EQ(outcome(after_error(with_primary(), e)), "unknown clear");
        for (const std::int32_t code : {91, 11600}) {  // it shuts down
            e.refusal = code;
            EXPECT_EQ(outcome(after_error(with_primary(), e)), "unknown clear check") << code;
        }
        for (const std::int32_t code : {11602, 13436, 189, 10107}) {
            e.refusal = code;
            EXPECT_EQ(outcome(after_error(with_primary(), e)), "unknown check") << code;
        }
    }
}

TEST(network_error, cancels_the_heartbeat_in_progress)
{
    VERIFIES("SD-174");
    for (const connection_phase phase : {connecting, authenticating, ready}) {
        const transition t = after_error(with_primary(),
                                         failing("a", failure_kind::network, phase));
        EXPECT_EQ(servers_of<cancel_check>(t), names{"a"});
        ASSERT_FALSE(t.effects.empty());
        EXPECT_TRUE(std::holds_alternative<cancel_check>(t.effects.back()))
            << "its connection is no better, once the pool is cleared";
    }
}

/// What a runtime of another make says when the time is up.
class own_category final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "own"; }
    std::string message(int) const override { return "too late"; }
    boost::system::error_condition default_error_condition(int) const noexcept override
    {
        return make_error_condition(boost::system::errc::timed_out);
    }
};

TEST(network_error, error_code_distinguishes_network_error_from_timeout)
{
    VERIFIES("SD-010");
    namespace errc = boost::system::errc;
    const own_category own;
    for (const error_code late : {make_error_code(errc::timed_out), error_code{7, own}})
        EXPECT_EQ(kind_of_broken_connection(late), failure_kind::timeout) << late.message();
    for (const error_code lost :
         {make_error_code(errc::connection_reset), make_error_code(errc::broken_pipe),
          make_error_code(errc::connection_refused), make_error_code(errc::host_unreachable),
          make_error_code(errc::connection_aborted), error_code{boost::asio::error::eof}})
        EXPECT_EQ(kind_of_broken_connection(lost), failure_kind::network) << lost.message();
    // Once a connection is ready, that is all the difference.
    EXPECT_EQ(outcome(after_error(with_primary(), failing("a", failure_kind::timeout))), "");
    EXPECT_EQ(outcome(after_error(with_primary(), failing("a", failure_kind::network))),
              "unknown clear cancel");
}

TEST(freshness, last_update_time_is_the_steady_time_of_receipt)
{
    VERIFIES("SD-072");
    VERIFIES("SD-073");
    EXPECT_TRUE(decltype(server_description::last_update_time)::clock::is_steady);
    const round_trip_times slow{.average = std::chrono::seconds{3},
                                .minimum = std::chrono::seconds{2}};
    const server_description s = parse_hello(at("a"), json(R"({"ok": 1})"), slow, now);
    EXPECT_EQ(s.last_update_time, now) << "the way back is not made up for";
    const topology_ptr t = apply_check(start({"a"}), s).after;
    EXPECT_EQ(t->find(at("a"))->last_update_time, now);
}

TEST(descriptions, published_descriptions_are_immutable)
{
    VERIFIES("SD-198");
    EXPECT_TRUE(std::is_const_v<topology_ptr::element_type>);
    EXPECT_TRUE(std::is_const_v<server_ptr::element_type>);
    const topology_ptr before = with_primary();
    const server_ptr a = before->find(at("a"));
    const transition t = after_error(before, failing("a", failure_kind::network));
    EXPECT_NE(t.after, before);
    EXPECT_NE(t.after->find(at("a")), a);
    EXPECT_EQ(picture(*before), "ReplicaSetWithPrimary a:RSPrimary b:RSSecondary");
    EXPECT_EQ(before->find(at("a")), a) << "who reads the old one is not disturbed";
    EXPECT_EQ(t.after->find(at("b")), before->find(at("b"))) << "what did not change is shared";
}

}  // namespace
}  // namespace holdfast::core::mongo::sdam_test::error_source_test
