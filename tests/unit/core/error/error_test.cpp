#include "holdfast/error.hpp"

#include <boost/system/errc.hpp>
#include <gtest/gtest.h>

#include <memory>

namespace holdfast::error_test {
namespace {

using namespace std::chrono_literals;
using boost::system::errc::make_error_code;
namespace sys = boost::system::errc;

error broken_pipe()
{
    return {make_error_code(sys::broken_pipe), "the pipe broke"};
}

std::vector<std::string> labels_of(const error& e)
{
    return {e.labels().begin(), e.labels().end()};
}

TEST(error, object_is_one_pointer_wide)
{
    EXPECT_EQ(sizeof(error), sizeof(void*));
    EXPECT_LE(sizeof(result<void>), 2 * sizeof(void*));
}

TEST(error, construction_sets_code_and_message_only)
{
    const error e = broken_pipe();
    EXPECT_EQ(e.code(), sys::broken_pipe);
    EXPECT_EQ(e.message(), "the pipe broke");
    EXPECT_TRUE(e.labels().empty());
    EXPECT_TRUE(e.context().empty());
    EXPECT_TRUE(e.history().empty());
}

TEST(error, labels_keep_insertion_order_without_duplicates)
{
    const error e = broken_pipe().with_label("b").with_label("a").with_label("b");
    EXPECT_EQ(labels_of(e), (std::vector<std::string>{"b", "a"}));
    EXPECT_TRUE(e.has_label("a"));
    EXPECT_TRUE(e.has_label("b"));
    EXPECT_FALSE(e.has_label("ab"));
    EXPECT_FALSE(e.has_label(""));
}

TEST(error, with_context_replaces_the_same_name)
{
    const error e = broken_pipe()
                        .with_context("path", "a.b")
                        .with_context("offset", "12")
                        .with_context("path", "c");
    EXPECT_EQ(e.context("path"), "c");
    EXPECT_EQ(e.context("offset"), "12");
    EXPECT_EQ(e.context("line"), "");
    ASSERT_EQ(e.context().size(), 2u);
    EXPECT_EQ(e.context()[0], (context_entry{"path", "c"}));
}

TEST(error, changed_copy_leaves_the_original)
{
    const error original = broken_pipe().with_label("a").with_context("path", "x");
    error copy = original;
    copy = std::move(copy).with_label("b").with_context("path", "y");
    EXPECT_EQ(labels_of(original), std::vector<std::string>{"a"});
    EXPECT_EQ(original.context("path"), "x");
    EXPECT_EQ(copy.context("path"), "y");

    copy = original;
    EXPECT_EQ(labels_of(copy), std::vector<std::string>{"a"});
    const error& itself = copy;
    copy = itself;
    EXPECT_EQ(copy.message(), "the pipe broke");
}

TEST(error, moved_from_object_can_be_copied_and_assigned)
{
    error from = broken_pipe();
    const error to = std::move(from);
    error copy = from;  // NOLINT(bugprone-use-after-move): that is the test
    copy = to;
    EXPECT_EQ(copy.message(), "the pipe broke");
    from = to;
    EXPECT_EQ(from.code(), sys::broken_pipe);
}

TEST(error, history_keeps_the_order_of_attempts)
{
    const error e = broken_pipe().with_history(
        {attempt{.server = endpoint{"a:1"}}, attempt{.server = endpoint{"b:1"}}});
    ASSERT_EQ(e.history().size(), 2u);
    EXPECT_EQ(e.history()[0].server, endpoint{"a:1"});
    EXPECT_EQ(e.history()[1].server, endpoint{"b:1"});
}

std::string in_full(error_code code)
{
    return std::string{code.category().name()} + ':' + std::to_string(code.value()) + ' ' +
           code.message();
}

TEST(error_explain, message_in_code_or_label_is_not_repeated)
{
    const error e = broken_pipe()
                        .with_context("operation", "insert into bank.accounts")
                        .with_context("namespace", "bank.accounts")
                        .with_context("code", "18")
                        .with_context("cause", "the pipe broke")
                        .with_context("server", "a:27017");
    EXPECT_EQ(e.explain(), "insert into bank.accounts: the pipe broke\n  code: " +
                               in_full(e.code()) + "\n  server: a:27017");
    EXPECT_EQ(e.summary(), "insert into bank.accounts: the pipe broke");
}

TEST(error_explain, without_history_gives_message_and_code)
{
    const error e = broken_pipe();
    EXPECT_EQ(e.explain(), "the pipe broke\n  code: " + in_full(e.code()));
}

TEST(error_explain, has_message_code_labels_context_and_attempts)
{
    const error_code reset = make_error_code(sys::connection_reset);
    const error_code full = make_error_code(sys::no_space_on_device);
    const attempt first{.server = endpoint{"db1:27017"},
                        .phase = dispatch_phase::in_flight,
                        .cause = reset,
                        .took = 12ms,
                        .waited = 100ms,
                        .decision = "a retryable write"};
    const attempt second{.server = endpoint{"db2:27017"},
                         .phase = dispatch_phase::answered,
                         .cause = full,
                         .labels = {"Fatal"},
                         .started = 112ms,
                         .took = 1500us,
                         .decision = "not retryable"};
    const attempt third{.started = 12s};
    const error e = error{full, "insert into bank.accounts failed"}
                        .with_label("RetryableWriteError")
                        .with_label("NoWritesPerformed")
                        .with_context("namespace", "bank.accounts")
                        .with_history({first, second, third});

    std::string expected = "insert into bank.accounts failed\n";
    expected += "  code: " + in_full(full) + "\n";
    expected += "  labels: RetryableWriteError, NoWritesPerformed\n";
    expected += "  namespace: bank.accounts\n";
    expected += "  attempt 1: db1:27017, in flight, " + in_full(reset);
    expected += ", began at 0 us, took 12 ms, waited 100 ms: a retryable write\n";
    expected += "  attempt 2: db2:27017, answered, " + in_full(full);
    expected += " [Fatal], began at 112 ms, took 1500 us: not retryable\n";
    expected += "  attempt 3: no server, not sent, no error, began at 12 s, took 0 us";
    EXPECT_EQ(e.explain(), expected);
}

TEST(failure, what_returns_the_message_and_error_is_kept)
{
    try {
        throw failure{broken_pipe().with_label("a")};
    } catch (const std::runtime_error& caught) {
        EXPECT_STREQ(caught.what(), "the pipe broke");
        const auto* const why = dynamic_cast<const failure*>(&caught);
        ASSERT_NE(why, nullptr);
        EXPECT_TRUE(why->error().has_label("a"));
    }
}

TEST(result, value_is_accessible)
{
    result<int> r = 42;
    EXPECT_TRUE(r.has_value());
    EXPECT_TRUE(static_cast<bool>(r));
    EXPECT_EQ(*r, 42);
    EXPECT_EQ(r.value(), 42);
    EXPECT_EQ(r.value_or(7), 42);
    *r = 43;
    EXPECT_EQ(std::as_const(r).value(), 43);
    EXPECT_EQ(std::move(r).value(), 43);
}

TEST(result, error_makes_value_throw)
{
    result<int> r = broken_pipe();
    EXPECT_FALSE(r.has_value());
    EXPECT_FALSE(static_cast<bool>(r));
    EXPECT_EQ(r.error().code(), sys::broken_pipe);
    EXPECT_EQ(r.value_or(7), 7);
    EXPECT_THROW(r.value(), failure);
    EXPECT_THROW(std::as_const(r).value(), failure);
    EXPECT_EQ(r.error().message(), "the pipe broke");  // the throwing above copied it
    const error taken = std::move(r).error();
    EXPECT_EQ(taken.message(), "the pipe broke");
}

TEST(result, value_throws_failure_with_the_same_error)
{
    result<std::string> r = broken_pipe().with_label("a");
    try {
        (void)std::move(r).value();
        FAIL() << "an error gave a value";
    } catch (const failure& caught) {
        EXPECT_EQ(caught.error().code(), sys::broken_pipe);
        EXPECT_TRUE(caught.error().has_label("a"));
    }
}

TEST(result, converting_constructor_follows_the_value_type)
{
    const result<std::string> from_literal = "text";
    EXPECT_EQ(*from_literal, "text");
    EXPECT_EQ(from_literal->size(), 4u);
    static_assert(std::is_convertible_v<const char*, result<std::string>>);
    static_assert(!std::is_convertible_v<std::string, result<endpoint>>);
    static_assert(std::is_constructible_v<result<endpoint>, std::string>);
    static_assert(!std::is_constructible_v<result<int>, std::string>);
}

TEST(result, move_only_value_can_be_taken)
{
    result<std::unique_ptr<int>> r = std::make_unique<int>(5);
    const std::unique_ptr<int> owned = *std::move(r);
    EXPECT_EQ(*owned, 5);
}

TEST(result_of_void, default_constructed_is_success)
{
    const result<void> r;
    EXPECT_TRUE(r.has_value());
    EXPECT_TRUE(static_cast<bool>(r));
    EXPECT_NO_THROW(r.value());
}

TEST(result_of_void, error_makes_value_throw)
{
    result<void> r = broken_pipe();
    EXPECT_FALSE(r.has_value());
    EXPECT_EQ(r.error().code(), sys::broken_pipe);
    EXPECT_THROW(r.value(), failure);
    const error taken = std::move(r).error();
    EXPECT_EQ(taken.message(), "the pipe broke");
}

}  // namespace
}  // namespace holdfast::error_test
