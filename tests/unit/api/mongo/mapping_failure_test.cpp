#include "holdfast/mongo/client.hpp"
#include "holdfast/mongo/sync/client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/describe.hpp>
#include <gtest/gtest.h>

#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A struct that cannot be mapped to BSON fails the operation, not the call: the error goes where
/// the completion token sends errors.
namespace holdfast::mapping_failure_test {
namespace {

struct tagged {
    std::map<std::string, int> tags;
};
BOOST_DESCRIBE_STRUCT(tagged, (), (tags))

/// A key with a zero byte, which no document can hold.
const tagged unmappable{.tags = {{std::string{"a\0b", 3}, 1}}};
const std::string unreachable = "mongodb://127.0.0.1:1/";

constexpr auto insert_one = [](const auto& in, auto&&... token) {
    return in.insert_one(unmappable, {}, std::forward<decltype(token)>(token)...);
};
constexpr auto replace_one = [](const auto& in, auto&&... token) {
    return in.replace_one(bson::doc("_id", 1), unmappable, {},
                          std::forward<decltype(token)>(token)...);
};
constexpr auto insert_many = [](const auto& in, auto&&... token) {
    const std::vector<tagged> some{tagged{}, unmappable};
    return in.insert_many(some, {}, std::forward<decltype(token)>(token)...);
};
constexpr auto bulk_write = [](const auto& in, auto&&... token) {
    mongo::bulk_writes work;
    work.insert_one(unmappable);
    return in.bulk_write(std::move(work), {}, std::forward<decltype(token)>(token)...);
};

error mapping_error()
{
    return bson::to_bson(unmappable).error();
}

void expect_mapping_error(const std::optional<error>& got)
{
    ASSERT_TRUE(got);
    EXPECT_EQ(got->code(), mapping_error().code()) << got->explain();
    EXPECT_NE(got->message().find(mapping_error().message()), std::string::npos) << got->explain();
}

template <class T>
std::optional<error> error_in(const result<T>& outcome)
{
    if (outcome)
        return std::nullopt;
    return outcome.error();
}

/// The outcome of an awaitable that was made before it is awaited.
template <class T>
std::optional<error> await(asio::io_context& io, asio::awaitable<T> made)
{
    std::optional<error> got;
    asio::co_spawn(io, std::move(made), [&](const std::exception_ptr& thrown, auto&&...) {
        try {
            if (thrown)
                std::rethrow_exception(thrown);
        } catch (const failure& caught) {
            got = caught.error();
        }
    });
    io.run();
    return got;
}

template <class T>
asio::awaitable<void> keep_error(asio::awaitable<result<T>> made, std::optional<error>& got)
{
    const auto outcome = co_await std::move(made);
    got = error_in(outcome);
}

template <class Operation>
class mapping_failure : public testing::Test {
public:
    asio::io_context io;
    const mongo::client client{io.get_executor(), unreachable};
    const mongo::collection items = client["shop"]["items"];
};

template <auto Call>
struct operation {
    static constexpr auto call = Call;
};
using operations = testing::Types<operation<insert_one>, operation<replace_one>,
                                  operation<insert_many>, operation<bulk_write>>;
TYPED_TEST_SUITE(mapping_failure, operations);

TYPED_TEST(mapping_failure, call_without_token_throws_when_awaited)
{
    auto made = TypeParam::call(this->items);
    expect_mapping_error(await(this->io, std::move(made)));
}

TYPED_TEST(mapping_failure, use_awaitable_gives_error_in_result)
{
    std::optional<error> got;
    auto made = TypeParam::call(this->items, asio::use_awaitable);
    asio::co_spawn(this->io, keep_error(std::move(made), got), asio::detached);
    this->io.run();
    expect_mapping_error(got);
}

TYPED_TEST(mapping_failure, callback_gets_error_in_result)
{
    std::optional<error> got;
    TypeParam::call(this->items, [&](auto outcome) { got = error_in(outcome); });
    EXPECT_FALSE(got);
    this->io.run();
    expect_mapping_error(got);
}

TYPED_TEST(mapping_failure, use_future_gives_error_in_result)
{
    auto future = TypeParam::call(this->items, asio::use_future);
    this->io.run();
    expect_mapping_error(error_in(future.get()));
}

TYPED_TEST(mapping_failure, deferred_operation_gives_error_when_started)
{
    std::optional<error> got;
    auto deferred = TypeParam::call(this->items, asio::deferred);
    this->io.run();
    EXPECT_FALSE(got);
    std::move(deferred)([&](auto outcome) { got = error_in(outcome); });
    this->io.restart();
    this->io.run();
    expect_mapping_error(got);
}

TEST(sync_mapping_failure, operation_throws_and_its_try_twin_gives_result)
{
    const mongo::sync::client client{unreachable};
    const mongo::sync::collection items = client["shop"]["items"];
    const bson::document filter = bson::doc("_id", 1);

    expect_mapping_error(error_in(items.try_insert_one(unmappable)));
    expect_mapping_error(error_in(items.try_replace_one(filter, unmappable)));
    EXPECT_THROW(items.insert_one(unmappable), failure);
    EXPECT_THROW(items.replace_one(filter, unmappable), failure);
}

}  // namespace
}  // namespace holdfast::mapping_failure_test
