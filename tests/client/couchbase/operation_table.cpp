#include "client/couchbase/operation_table.hpp"

#include <chrono>
#include <utility>

namespace holdfast::proof {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using couchbase::raw_json;
namespace cb = couchbase;

namespace {

template <class T>
runtime::awaitable<any_outcome> without_value(runtime::awaitable<result<T>> what)
{
    auto got = co_await std::move(what);
    if (!got)
        co_return std::move(got).error();
    co_return true;
}

}  // namespace

std::vector<table_row> all_operations()
{
    static const raw_json content{R"({"n":1})"};
    static const cb::lookup paths{cb::get("n")};
    static const cb::changes edit{cb::upsert("n", 2)};
    using in = const cb::collection&;
    const auto a = use_awaitable;
    return {
        {"get", kv_opcode::get, true, [a](in c) { return without_value(c.get("a", {}, a)); }},
        {"get_if", kv_opcode::get, true, [a](in c) { return without_value(c.get_if("a", {}, a)); }},
        {"get with expiry", kv_opcode::subdoc_multi_lookup, true,
         [a](in c) { return without_value(c.get("a", {.with_expiry = true}, a)); }},
        {"lookup_in", kv_opcode::subdoc_multi_lookup, true,
         [a](in c) { return without_value(c.lookup_in("a", paths, {}, a)); }},
        {"get_any_replica", kv_opcode::get, true,
         [a](in c) { return without_value(c.get_any_replica("a", {}, a)); }},
        {"lookup_in_any_replica", kv_opcode::subdoc_multi_lookup, true,
         [a](in c) { return without_value(c.lookup_in_any_replica("a", paths, {}, a)); }},
        {"exists", kv_opcode::get_meta, false,
         [a](in c) { return without_value(c.exists("a", {}, a)); }},
        {"get_and_touch", kv_opcode::get_and_touch, false,
         [a](in c) { return without_value(c.get_and_touch("a", cb::expiry::in(1h), {}, a)); }},
        {"get_and_lock", kv_opcode::get_and_lock, false,
         [a](in c) { return without_value(c.get_and_lock("a", 1s, {}, a)); }},
        {"unlock", kv_opcode::unlock, false,
         [a](in c) { return without_value(c.unlock("a", {7}, {}, a)); }},
        {"touch", kv_opcode::touch, false,
         [a](in c) { return without_value(c.touch("a", cb::expiry::in(1h), {}, a)); }},
        {"upsert", kv_opcode::upsert, false,
         [a](in c) { return without_value(c.upsert("a", content, {}, a)); }},
        {"insert", kv_opcode::insert, false,
         [a](in c) { return without_value(c.insert("new", content, {}, a)); }},
        {"replace", kv_opcode::replace, false,
         [a](in c) { return without_value(c.replace("a", content, {}, a)); }},
        {"append", kv_opcode::append, false,
         [a](in c) { return without_value(c.append("a", " ", {}, a)); }},
        {"prepend", kv_opcode::prepend, false,
         [a](in c) { return without_value(c.prepend("a", " ", {}, a)); }},
        {"increment", kv_opcode::increment, false,
         [a](in c) { return without_value(c.increment("n", {}, a)); }},
        {"decrement", kv_opcode::decrement, false,
         [a](in c) { return without_value(c.decrement("n", {}, a)); }},
        {"mutate_in", kv_opcode::subdoc_multi_mutation, false,
         [a](in c) { return without_value(c.mutate_in("a", edit, {}, a)); }},
        {"remove", kv_opcode::remove, false,
         [a](in c) { return without_value(c.remove("a", {}, a)); }},
    };
}

table_scene::table_scene(cb::cluster_options options)
{
    connect(std::move(options));
    EXPECT_TRUE(upsert("a", R"({"n":1})")->good());
    EXPECT_TRUE(run(documents().increment("n", {.initial = 5}, use_awaitable))->good());
}

}  // namespace holdfast::proof
