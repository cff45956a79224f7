#include "api_call.hpp"

namespace holdfast::spec::unified {
namespace {

using filter = arg::document<"filter">;
using replacement = arg::document<"replacement">;
using update = arg::update<"update">;

constexpr named_operation write_operations_table[] = {
    {"insertOne", on_collection<mongo::insert_one_options, arg::document<"document">>(
                      [](const auto& on, const auto&... given) {
                          return on.insert_one(given..., use_awaitable);
                      })},
    {"insertMany", on_collection<mongo::insert_many_options, arg::documents<"documents">>(
                       [](const auto& on, const auto&... given) {
                           return on.insert_many(given..., use_awaitable);
                       })},
    {"updateOne",
     on_collection<mongo::update_options, filter, update>([](const auto& on, const auto&... given) {
         return on.update_one(given..., use_awaitable);
     })},
    {"updateMany",
     on_collection<mongo::update_options, filter, update>([](const auto& on, const auto&... given) {
         return on.update_many(given..., use_awaitable);
     })},
    {"replaceOne", on_collection<mongo::update_options, filter, replacement>(
                       [](const auto& on, const auto&... given) {
                           return on.replace_one(given..., use_awaitable);
                       })},
    {"deleteOne",
     on_collection<mongo::delete_options, filter>([](const auto& on, const auto&... given) {
         return on.delete_one(given..., use_awaitable);
     })},
    {"deleteMany",
     on_collection<mongo::delete_options, filter>([](const auto& on, const auto&... given) {
         return on.delete_many(given..., use_awaitable);
     })},
    {"findOneAndUpdate", on_collection<mongo::find_and_modify_options, filter, update>(
                             [](const auto& on, const auto&... given) {
                                 return on.find_one_and_update(given..., use_awaitable);
                             })},
    {"findOneAndReplace", on_collection<mongo::find_and_modify_options, filter, replacement>(
                              [](const auto& on, const auto&... given) {
                                  return on.find_one_and_replace(given..., use_awaitable);
                              })},
    {"findOneAndDelete", on_collection<mongo::find_and_modify_options, filter>(
                             [](const auto& on, const auto&... given) {
                                 return on.find_one_and_delete(given..., use_awaitable);
                             })},
};

}  // namespace

std::span<const named_operation> write_operations() noexcept
{
    return write_operations_table;
}

}  // namespace holdfast::spec::unified
