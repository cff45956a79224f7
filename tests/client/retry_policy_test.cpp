#include "api/mongo/access.hpp"
#include "api/mongo/client_impl.hpp"
#include "client/bent_world.hpp"
#include "client/traffic.hpp"

/// The rules of core::mongo::decide() as a server sees them: how often a command comes, and when.
namespace holdfast::proof::retry_policy_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

enum class sent : std::uint8_t { insert, update_many, find, run_command };

bson::document document_of(sent what)
{
    switch (what) {
    case sent::insert:
        return insert_of(1);
    case sent::update_many: {
        const auto statement = bson::doc("q", bson::object(), "u",
                                         bson::object("$set", bson::object("a", 1)), "multi", true);
        return bson::doc("update", "coll", "updates", bson::list(statement));
    }
    case sent::find:
        return bson::doc("find", "coll");
    case sent::run_command:
        break;
    }
    return bson::doc("count", "coll");
}

mongo::command_options options_of(sent what)
{
    switch (what) {
    case sent::insert:
    case sent::update_many:
        return as_write();
    case sent::find:
        return as_read();
    case sent::run_command:
        break;
    }
    return {};
}

std::string name_of(sent what)
{
    return std::string{(*document_of(what).begin()).key()};
}

const scripted_reply overloaded{.body = overload_reply()};
/// Retried by the rules for reads and writes; says nothing of the server, so that it is used again.
const scripted_reply unreachable{.body = error_reply(6, "RetryableWriteError")};
const scripted_reply stepped_down{.body = error_reply(10107, "RetryableWriteError")};
const scripted_reply duplicate_key{.body = error_reply(11000)};

struct switch_row {
    const char* id;
    const char* options;
    sent what;
    bool retried;
};

constexpr auto both_off = "&retryReads=false&retryWrites=false";

const switch_row switches[] = {
    {"BP-056", "", sent::find, true},
    {"BP-056", "", sent::insert, true},
    {"BP-056", "", sent::run_command, true},
    {"BP-015", "&retryWrites=false", sent::find, true},
    {"BP-015", "&retryWrites=false", sent::insert, false},
    {"BP-016", "&retryWrites=false", sent::run_command, false},
    {"BP-058", "&retryReads=false", sent::find, false},
    {"BP-058", "&retryReads=false", sent::insert, true},
    {"BP-016", "&retryReads=false", sent::run_command, false},
    {"BP-057", both_off, sent::find, false},
    {"BP-057", both_off, sent::insert, false},
    {"BP-057", both_off, sent::run_command, false},
};

/// A command that fails once is retried, or is not.
void expect_switched(const switch_row& row, const scripted_reply& first, bool retried)
{
    scene s{{.hosts = {"a"}}};
    const std::string name = name_of(row.what);
    s.server("a").on_command(name, in_turn({first, good_write()}));
    s.connect(row.options);
    const operation& op = s.run(document_of(row.what), options_of(row.what));
    EXPECT_EQ(op.good(), retried) << op.explain();
    const auto seen = s.server("a").commands(name);
    EXPECT_EQ(seen.size(), retried ? 2U : 1U) << op.explain();
    const bool numbered = row.what == sent::insert && row.retried;
    for (const scripted_command& one : seen)
        EXPECT_EQ(one.body["txnNumber"].operator bool(), numbered);
    expect_clean(s);
}

TEST(client_retry, retry_reads_and_retry_writes_switch_their_kind_of_command)
{
    VERIFIES_BY_TRAFFIC("RW-017");
    for (const switch_row& row : switches) {
        VERIFIES_ROW_BY_TRAFFIC(row.id);
        SCOPED_TRACE(name_of(row.what) + " with " + row.options);
        expect_switched(row, overloaded, row.retried);
        // Without those labels nothing shows that a command of any kind may be sent again.
        const bool known = row.what != sent::run_command;
        expect_switched(row, hang_up(), row.retried && known);
        expect_switched(row, stepped_down, row.retried && known);
    }
}

struct wait_row {
    const char* id;
    std::vector<scripted_reply> replies;  // the last one for ever
    std::vector<milliseconds> waits;  // between the attempts, if all of the jitter is waited
    int code;  // of the reported error; 0: success
    sent what = sent::insert;
    const char* options = "";
    std::int32_t wire_version = 21;
};

constexpr auto minute = "&timeoutMS=60000";
const std::vector<milliseconds> all_waits{100ms, 200ms, 400ms, 800ms, 1600ms};
/// No profile but this one lets an operation be retried so often.
constexpr auto nine_retries = "&resilienceProfile=upstream_2026_07&maxAdaptiveRetries=9";
const std::vector<milliseconds> up_to_the_cap{200ms,  400ms,   800ms,   1600ms, 3200ms,
                                              6400ms, 10000ms, 10000ms, 10000ms};
const std::vector<milliseconds> one_wait{100ms, 0ms, 0ms, 0ms, 0ms};

/// Labelled as overload, and retryable by the rules for writes only.
const scripted_reply half_overloaded{
    .body = error_reply(6, "SystemOverloadedError", "RetryableWriteError")};
const scripted_reply only_overloaded{.body = error_reply(462, "SystemOverloadedError")};
/// What counts are the labels, not the code.
const scripted_reply without_labels{.body = error_reply(462)};
const scripted_reply labelled_code_2{
    .body = error_reply(2, "SystemOverloadedError", "RetryableError")};
const scripted_reply only_retryable{.body = error_reply(462, "RetryableError")};

const wait_row waits[] = {
    {"RW-055", {unreachable}, {0ms}, 6},
    {"BP-033", {unreachable}, {0ms}, 6, sent::find},
    {"BP-006", {overloaded}, all_waits, 462, sent::insert, "", 6},
    {"BP-012", {only_overloaded}, {}, 462, sent::update_many},
    {"BP-012", {only_retryable}, {}, 462, sent::update_many},
    {"BP-003", {only_overloaded}, {}, 462},
    {"BP-003", {only_retryable}, {}, 462},
    {"BP-004", {without_labels}, {}, 462},
    {"BP-004", {labelled_code_2, good_write()}, {100ms}, 0},
    {"BP-004", {labelled_code_2, good_write()}, {100ms}, 0, sent::update_many},
    {"BP-047", {overloaded, good_write()}, {100ms}, 0},
    {"BP-017", {overloaded}, all_waits, 462},
    {"BP-034", {half_overloaded}, all_waits, 6},
    {"BP-001", {overloaded, good_write()}, {100ms}, 0, sent::update_many},
    {"BP-001", {overloaded, good_write()}, {100ms}, 0, sent::run_command},
    {"BP-002", {half_overloaded, good_write()}, {100ms}, 0},
    {"BP-002", {unreachable, good_write()}, {0ms}, 0},
    {"BP-019", {overloaded}, up_to_the_cap, 462, sent::insert, nine_retries},
    {"BP-011", {unreachable, overloaded, good_write()}, {0ms, 200ms}, 0},
    {"BP-060",
     {unreachable, overloaded, overloaded, overloaded, overloaded, good_write()},
     {0ms, 200ms, 400ms, 800ms, 1600ms},
     0},
    {"BP-031", {overloaded, unreachable}, one_wait, 6},
    {"BP-031", {overloaded, unreachable}, one_wait, 6, sent::insert, minute},
    {"BP-014", {overloaded}, all_waits, 462, sent::insert, minute},
    {"BP-014", {overloaded}, {100ms, 200ms, 400ms}, 462, sent::insert, "&timeoutMS=1000"},
    {"BP-032", {overloaded}, all_waits, 462, sent::update_many, minute},
    {"BP-059", {overloaded, overloaded, duplicate_key}, {100ms, 200ms}, 11000},
};

/// A client that always draws the longest wait, and knows its server.
void connect_and_wait_longest(scene& s, const std::string& options)
{
    const auto world = std::make_shared<bent_world>(s.app.world());
    s.connect_in(world, "mongodb://a/?replicaSet=rs" + options);
    s.settle();
    world->chance_bits = 0xFF;
}

/// The labels of the last reply are those of the error that the application gets.
void expect_labels_of(const scripted_reply& last, const operation& op)
{
    if (op.good())
        return;
    const bson::element labels = last.body["errorLabels"];
    std::size_t count = 0;
    for (const bson::element& one : labels.as_array()) {
        EXPECT_TRUE(op.outcome->error().has_label(one.as_string())) << op.explain();
        ++count;
    }
    EXPECT_EQ(op.outcome->error().labels().size(), count) << op.explain();
}

TEST(client_retry, attempts_and_backoff_follow_the_errors_of_the_operation)
{
    for (const wait_row& row : waits) {
        VERIFIES_ROW_BY_TRAFFIC(row.id);
        SCOPED_TRACE(std::string{row.id} + ": " + name_of(row.what) + " " + row.options);
        scene s{{.hosts = {"a"}}};
        s.set.wire_version = row.wire_version;
        s.server("a").on_command(name_of(row.what), in_turn(row.replies));
        connect_and_wait_longest(s, row.options);
        const operation& op = s.run(document_of(row.what), options_of(row.what));
        EXPECT_EQ(op.code(), row.code) << op.explain();
        EXPECT_EQ(op.good(), row.code == 0) << op.explain();
        const auto seen = s.server("a").commands(name_of(row.what));
        EXPECT_EQ(seen.size(), row.waits.size() + 1) << op.explain();
        for (std::size_t n = 0; n < row.waits.size() && n + 1 < seen.size(); ++n) {
            const duration waited = seen[n + 1].when - seen[n].when - 2ms;  // two links
            EXPECT_LE(waited, row.waits[n]) << n;
            EXPECT_GT(waited, row.waits[n] - 1ms) << n;
        }
        EXPECT_LE(op.ended - seen.back().when, 2ms) << "it ends without another wait";
        expect_labels_of(row.replies.back(), op);
        expect_clean(s);
    }
}

struct token_row {
    const char* id;
    std::vector<scripted_reply> replies;  // the last one for ever
    std::int32_t before;  // tenths of a token
    std::size_t attempts;
    std::int32_t after;
    const char* options = "&adaptiveRetries=true";
};

const token_row token_rows[] = {
    {"BP-024", {good_write()}, 5000, 1, 5001},
    {"BP-041", {good_write()}, 10000, 1, 10000},
    {"BP-025", {overloaded, good_write()}, 5000, 2, 5001},
    {"BP-025", {overloaded, overloaded, good_write()}, 5000, 3, 4991},
    {"BP-026", {overloaded, duplicate_key}, 5000, 2, 5000},
    {"BP-027", {duplicate_key}, 5000, 1, 5000},
    {"BP-028", {overloaded}, 20, 3, 0},
    {"BP-044", {overloaded}, 9, 1, 9},
    {"BP-029", {unreachable, good_write()}, 0, 2, 11},
    {"BP-029", {hang_up(), good_write()}, 0, 2, 11},
    {"BP-029", {hang_up(), good_write()}, 20, 2, 31},
    {"BP-029", {stepped_down, good_write()}, 20, 2, 31},
    {"BP-035", {overloaded}, 5000, 6, 4950},
    {"BP-035", {overloaded, unreachable}, 5000, 6, 5040},
    {"BP-036", {overloaded}, 5000, 1, 5000, "&adaptiveRetries=true&timeoutMS=50"},
    {"BP-040", {overloaded, good_write()}, 0, 2, 0, ""},
};

TEST(client_retry, token_bucket_level_follows_the_attempts)
{
    for (const token_row& row : token_rows) {
        VERIFIES_ROW_BY_TRAFFIC(row.id);
        SCOPED_TRACE(std::string{row.id} + " from " + std::to_string(row.before) + " tenths");
        scene s{{.hosts = {"a"}}};
        s.server("a").on_command("insert", in_turn(row.replies));
        connect_and_wait_longest(s, row.options);
        shell::mongo::shared_budget& budget = mongo::access::client_of(*s.client)->state->tokens;
        const core::tokens capacity = core::token_bucket::default_capacity;
        EXPECT_EQ(budget.load().level(), capacity) << "it starts full";
        budget.update([&](const core::token_bucket&) {
            return core::token_bucket{core::tokens{row.before}, capacity};
        });
        const operation& op = s.write();
        EXPECT_TRUE(op.done());
        EXPECT_EQ(s.server("a").count("insert"), row.attempts) << op.explain();
        EXPECT_EQ(budget.load().level(), core::tokens{row.after}) << op.explain();
        expect_clean(s);
    }
}

TEST(client_retry, ten_successes_pay_for_one_retry)
{
    VERIFIES_BY_TRAFFIC("BP-045");
    scene s{{.hosts = {"a"}}};
    connect_and_wait_longest(s, "&adaptiveRetries=true");
    shell::mongo::shared_budget& budget = mongo::access::client_of(*s.client)->state->tokens;
    budget.update([&](const core::token_bucket&) {
        return core::token_bucket{core::tokens{0}, core::token_bucket::default_capacity};
    });
    const auto inserts_of_a_refused_write = [&] {
        s.server("a").on_command("insert", in_turn({overloaded}));
        const std::size_t before = s.server("a").count("insert");
        EXPECT_EQ(s.write().code(), 462);
        return s.server("a").count("insert") - before;
    };
    const auto succeed = [&](int times) {
        s.server("a").on_command("insert", in_turn({good_write()}));
        for (int i = 0; i < times; ++i)
            EXPECT_TRUE(s.write(i).good());
    };
    for (int round = 0; round < 20; ++round) {
        succeed(9);
        EXPECT_EQ(inserts_of_a_refused_write(), 1U) << "nine tenths are no token";
        succeed(1);
        EXPECT_EQ(inserts_of_a_refused_write(), 2U) << "ten tenths are one, and no more";
    }
    expect_clean(s);
}

}  // namespace
}  // namespace holdfast::proof::retry_policy_test
