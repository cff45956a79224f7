#include "holdfast/mongo/sync/client.hpp"
#include "lab/mongo/client/client_lab.hpp"
#include "support/canary.hpp"
#include "support/certificates.hpp"

#include <atomic>
#include <future>

namespace holdfast::proof::sync_client_test {
namespace {

using namespace std::chrono_literals;

/// Writes documents one after the other on a thread, and stops at the first that fails.
class writer {
public:
    explicit writer(const mongo::sync::client& with)
        : thread_{[this, &with] {
              while (!stop_ && failure_.empty()) {
                  const auto reply = with.try_run_command("sea", safe_insert(written_), as_write());
                  if (!reply)
                      failure_ = reply.error().explain();
                  else if (number_in(*reply) != 1)
                      failure_ = "nothing was written";
                  else
                      ++written_;
              }
              ended_ = true;
          }}
    {
    }
    writer(const writer&) = delete;
    writer& operator=(const writer&) = delete;
    ~writer()
    {
        if (thread_.joinable())
            (void)finish();
    }

    bool goes_on() const
    {
        const int before = written_;
        const auto limit = std::chrono::steady_clock::now() + 20s;
        while (!ended_ && written_ < before + 20 && std::chrono::steady_clock::now() < limit)
            std::this_thread::yield();
        return written_ >= before + 20;
    }
    /// What went wrong, if anything did.
    std::string finish()
    {
        stop_ = true;
        thread_.join();
        return failure_;
    }
    int written() const { return written_; }

private:
    std::atomic<bool> stop_ = false;
    std::atomic<bool> ended_ = false;
    std::atomic<int> written_ = 0;
    std::string failure_;
    std::thread thread_;
};

TEST(lab_sync_client, writes_go_on_when_the_primary_steps_down_or_dies)
{
    auto set = started({});
    const mongo::sync::client client{set.uri()};
    writer pen{client};
    ASSERT_TRUE(pen.goes_on()) << pen.finish();
    ASSERT_TRUE(set.step_down(1s));
    ASSERT_TRUE(pen.goes_on()) << pen.finish();
    const auto leads = set.wait_for_primary();
    ASSERT_TRUE(leads);
    ASSERT_TRUE(set.crash(*leads));
    ASSERT_TRUE(pen.goes_on()) << pen.finish();
    ASSERT_TRUE(set.restart(*leads));
    EXPECT_EQ(pen.finish(), "");
    const auto count = client.try_run_command("sea", count_command());
    ASSERT_TRUE(count) << count.error().explain();
    EXPECT_EQ(number_in(*count), pen.written()) << "each of them once";
}

TEST(lab_sync_client, a_write_whose_reply_is_lost_is_recognised_when_it_comes_again)
{
    // The second server has a defect: it carries it out again, and says that the id is taken.
    for (const bool remembers : {true, false}) {
        auto set = started({.members = 1, .remembers_retryable_writes = remembers});
        const mongo::sync::client client{set.uri()};
        const auto planned = client.try_run_command(
            "admin",
            bson::doc("configureFailPoint", "onPrimaryTransactionalWrite", "mode",
                      bson::object("times", 1), "data", bson::object("closeConnection", true)));
        ASSERT_TRUE(planned) << planned.error().explain();
        const auto reply = client.try_run_command("sea", safe_insert(1), as_write());
        ASSERT_TRUE(reply) << reply.error().explain();
        EXPECT_EQ(number_in(*reply), remembers ? 1 : 0);
        EXPECT_EQ((*reply)["writeErrors"].operator bool(), !remembers);
        EXPECT_EQ(number_in(client.run_command("sea", count_command())), 1);
    }
}

TEST(lab_sync_client, many_threads_speak_tls)
{
    auto set = started({.members = 1, .tls_certificate = certificates::file("server.pem")});
    const std::string uri = set.uri() + "&maxPoolSize=3&tlsCAFile=" + certificates::file("ca.pem");
    const mongo::sync::client client{uri};
    std::vector<std::future<std::string>> workers;
    for (int worker = 0; worker < 6; ++worker) {
        workers.push_back(std::async(std::launch::async, [&client, worker] {
            for (int i = 0; i < 100; ++i) {
                const std::string text(static_cast<std::size_t>(i) * 400, 'k');
                const int id = worker * 1000 + i;
                if (const auto done = client.try_run_command("sea", safe_insert(id, text),
                                                             as_write());
                    !done)
                    return done.error().explain();
                const auto found = client.try_run_command(
                    "sea", bson::doc("find", "boats", "filter", bson::object("_id", id)));
                if (!found)
                    return found.error().explain();
                if (found->get<std::string>("cursor.firstBatch.0.text").value_or("?") != text)
                    return std::string{"something else came back"};
            }
            return std::string{};
        }));
    }
    for (auto& one : workers)
        EXPECT_EQ(one.get(), "");
    const mongo::sync::client stranger{set.uri() +
                                       "&tlsCAFile=" + certificates::file("other_ca.pem")};
    const auto refused = stranger.try_run_command("sea", count_command());
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("certificate"), std::string::npos);
}

TEST(lab_sync_client, a_late_reply_over_tls_is_never_taken_for_another)
{
    auto set = started({.members = 1, .tls_certificate = certificates::file("server.pem")});
    const mongo::sync::client client{set.uri() +
                                     "&maxPoolSize=1&tlsCAFile=" + certificates::file("ca.pem")};
    ASSERT_TRUE(client.try_run_command("sea", safe_insert(1), as_write()));
    ASSERT_TRUE(set.freeze(0));
    const auto began = std::chrono::steady_clock::now();
    EXPECT_FALSE(client.try_run_command("sea", count_command(), {.timeout = 100ms}));
    EXPECT_LT(std::chrono::steady_clock::now() - began, 2s);
    ASSERT_TRUE(set.thaw(0));
    const auto reply = client.try_run_command("sea", bson::doc("ping", 1));
    ASSERT_TRUE(reply) << reply.error().explain();
    EXPECT_FALSE((*reply)["n"]) << "the reply to the count";
}

TEST(lab_sync_client, a_user_logs_in)
{
    auto set = started({.members = 1, .user = canary::user, .password = canary::password});
    for (const char* const mechanism :
         {"", "&authMechanism=SCRAM-SHA-1", "&authMechanism=SCRAM-SHA-256"}) {
        const mongo::sync::client client{set.uri() + mechanism};
        const auto reply = client.try_run_command("sea", count_command());
        EXPECT_TRUE(reply) << mechanism << reply.error().explain();
    }
    std::string wrong = set.uri();
    wrong.replace(wrong.find(canary::password), std::string_view{canary::password}.size(),
                  canary::wrong_password);
    const mongo::sync::client stranger{wrong};
    const auto refused = stranger.try_run_command("sea", count_command());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().context("phase"), "authentication") << refused.error().explain();
    EXPECT_EQ(refused.error().explain().find(canary::wrong_password), std::string::npos);
    EXPECT_NE(refused.error().message().find(", authSource admin, error code 18 "
                                             "(AuthenticationFailed)"),
              std::string::npos)
        << refused.error().message();
}

TEST(lab_sync_client, a_write_that_wants_no_acknowledgement_gets_none_and_is_carried_out)
{
    class ear final : public mongo::event_listener {
    public:
        void on(const mongo::events::command_started& e) noexcept override
        {
            if (e.of.command_name == "insert")
                numbered = numbered || e.command.find("txnNumber");
        }
        std::atomic<bool> numbered = false;
    };
    auto set = started({.members = 1});
    mongo::client_options options;
    const auto heard = std::make_shared<ear>();
    options.listeners.push_back(heard);
    const mongo::sync::client client{set.uri(), options};
    const bson::document insert = bson::doc("insert", "boats", "documents",
                                            bson::list(bson::object("_id", 1)), "writeConcern",
                                            bson::object("w", 0));
    const bson::document reply = client.run_command("sea", insert, as_write());
    EXPECT_FALSE(reply["n"]) << "the server has said nothing";
    // The same connection serves the next one, which finds the document: they come in order.
    const bson::document count = client.run_command("sea", bson::doc("count", "boats"));
    EXPECT_EQ(number_in(count), 1);
    EXPECT_FALSE(heard->numbered);
}

}  // namespace
}  // namespace holdfast::proof::sync_client_test
