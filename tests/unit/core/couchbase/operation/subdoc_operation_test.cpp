#include "core/couchbase/operation/subdoc.hpp"
#include "core/couchbase/wire/big_endian.hpp"
#include "unit/core/couchbase/operation/operation_frame.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::couchbase::subdoc_operation_test {
namespace {

using namespace std::chrono_literals;
using proof::from_hex;
namespace cb = holdfast::couchbase;

constexpr operation_context here{.timeout = 10s};

kv_order order_of(const cb::lookup& paths, const cb::lookup_in_options& options = {})
{
    return lookup_in_operation::make("ab", paths, options, here).value().order;
}

kv_order order_of(const cb::changes& what, const cb::mutate_in_options& options = {})
{
    return mutate_in_operation::make("ab", what, options, here).value().order;
}

proof::octets value_of(const kv_order& order)
{
    return proof::copy_of(order.value.bytes());
}

TEST(lookup_in, frame_is_as_the_protocol_has_it)
{
    EXPECT_EQ(frame_of(order_of(cb::lookup(cb::get("a"), cb::exists("b"), cb::count("c")))),
              from_hex("80 d0 0003 00 00 0102 00000012 0a0b0c0d 0000000000000000 00 6162"
                       "c5 00 0001 61  c6 00 0001 62  d2 00 0001 63"));
    EXPECT_EQ(frame_of(order_of(cb::lookup(cb::get("")), {.access_deleted = true})),
              from_hex("80 d0 0003 01 00 0102 00000008 0a0b0c0d 0000000000000000 04 00 6162"
                       "00 00 0000"));
}

TEST(lookup_in, replica_is_read_with_a_flag_of_the_document)
{
    const auto paths = cb::lookup(cb::get("a"));
    const auto replica = lookup_in_operation::make_for_copy("ab", paths, 1, {}, here).value();
    EXPECT_EQ(proof::copy_of(replica.order.extras.bytes()), from_hex("20"));
    EXPECT_EQ(replica.order.copy, 1);
    const auto active = lookup_in_operation::make_for_copy("ab", paths, 0, {}, here).value();
    EXPECT_TRUE(active.order.extras.bytes().empty());
}

TEST(lookup_in, extended_attributes_are_sent_first_and_results_keep_their_places)
{
    const auto made = lookup_in_operation::make("ab",
                                                cb::lookup(cb::get("a"), cb::get("x").xattr(),
                                                           cb::get("b"), cb::get("y").binary()),
                                                {}, here)
                          .value();
    EXPECT_EQ(value_of(made.order), from_hex("c5 04 0001 78  c5 24 0001 79"
                                             "c5 00 0001 61  c5 00 0001 62"));
    const auto value = from_hex(
        "0000 00000001 31  0000 00000001 32"
        "0000 00000001 33  0000 00000001 34");
    const auto read = made.read({.cas = 9, .value = value}).value();
    EXPECT_EQ(read.as<int>(0), 3);
    EXPECT_EQ(read.as<int>(1), 1);
    EXPECT_EQ(read.as<int>(2), 4);
    EXPECT_EQ(read.as<cb::raw_bytes>(3).bytes, proof::octets{'2'});
    EXPECT_EQ(read.cas().value, 9u);
}

TEST(lookup_in, each_path_has_its_own_outcome)
{
    const auto made = lookup_in_operation::make("ab",
                                                cb::lookup(cb::get("name"), cb::exists("iata"),
                                                           cb::get("none"), cb::get("x").xattr(),
                                                           cb::exists("name")),
                                                {}, here)
                          .value();
    const auto value = from_hex(
        "0024 00000000"
        "0000 00000005 224b4c4d22"
        "00c0 00000000"
        "00c1 00000000"
        "0000 00000000");
    const kv_reply reply{.status = kv_status::subdoc_multi_path_failure, .value = value};
    EXPECT_TRUE(lookup_in_operation::is_answer(reply.status));
    const auto read = made.read(reply).value();
    EXPECT_EQ(read.size(), 5u);
    EXPECT_EQ(read.as<std::string>(0), "KLM");
    EXPECT_EQ(read.content(0), "\"KLM\"");
    EXPECT_TRUE(read.exists(0));
    EXPECT_FALSE(read.exists(1));
    EXPECT_FALSE(read.as<bool>(1));
    EXPECT_TRUE(read.as<bool>(4));
    EXPECT_EQ(read.code(1), errc::path_not_found);
    EXPECT_EQ(read.code(2), errc::path_mismatch);
    EXPECT_EQ(read.code(3), errc::xattr_no_access);
    EXPECT_EQ(read.try_as<int>(2).error().message(),
              "path \"none\": the path does not fit the document");
    EXPECT_EQ(read.try_as<int>(0).error().code(), errc::decoding_failure);
    EXPECT_EQ(read.try_as<int>(0).error().context("path"), "name");
    EXPECT_THROW(read.as<int>(2), failure);
    EXPECT_EQ(read.try_as<int>(5).error().code(), errc::invalid_argument);
    EXPECT_FALSE(read.is_deleted());
    EXPECT_TRUE(made.read({.status = kv_status::subdoc_multi_path_failure_deleted, .value = value})
                    .value()
                    .is_deleted());
}

TEST(lookup_in, replies_that_do_not_fit_the_request_are_refused)
{
    const auto made = lookup_in_operation::make("ab", cb::lookup(cb::get("a")), {}, here).value();
    for (const char* bad : {"", "00", "0000 000000", "0000 00000002 31", "0000 ffffffff 31",
                            "0000 00000001 31 00", "0000 00000001 31 0000 00000001 31"}) {
        const auto value = from_hex(bad);
        EXPECT_EQ(made.read({.value = value}).error().code(), errc::decoding_failure) << bad;
    }
}

TEST(lookup_in, paths_are_limited_in_number_and_length)
{
    const auto code = [](const cb::lookup& paths) {
        const auto made = lookup_in_operation::make("a", paths, {}, here);
        return made ? error_code{} : made.error().code();
    };
    cb::lookup many;
    EXPECT_EQ(code(many), errc::invalid_argument);
    for (int i = 0; i < 16; ++i)
        many.add(cb::get("p"));
    EXPECT_EQ(code(many), error_code{});
    many.add(cb::get("p"));
    EXPECT_EQ(code(many), errc::invalid_argument);
    EXPECT_EQ(code(cb::lookup(cb::get(std::string(1024, 'p')))), error_code{});
    EXPECT_EQ(code(cb::lookup(cb::get(std::string(1025, 'p')))), errc::path_too_big);
    EXPECT_EQ(code(cb::lookup(cb::get("").xattr())), errc::invalid_argument);
}

TEST(mutate_in, frame_is_as_the_protocol_has_it)
{
    EXPECT_EQ(frame_of(order_of(cb::changes(cb::upsert("a", 1), cb::remove("b")))),
              from_hex("80 d1 0003 00 00 0102 00000016 0a0b0c0d 0000000000000000 00 6162"
                       "c8 00 0001 00000001 61 31"
                       "c9 00 0001 00000000 62"));
    EXPECT_EQ(frame_of(order_of(cb::changes(cb::upsert("a", 1)),
                                {.cas = {5},
                                 .store_semantics = cb::store_semantics::upsert,
                                 .durability = cb::durability::majority,
                                 .expiry = cb::expiry::in(1h)})),
              from_hex("08 d1 04 03 05 00 0102 00000016 0a0b0c0d 0000000000000005"
                       "13 01 2328 00000e10 01 00 6162"
                       "c8 00 0001 00000001 61 31"));
}

TEST(mutate_in, every_change_has_its_command_and_value)
{
    const auto bytes = [](cb::path_change change) {
        return value_of(order_of(cb::changes(std::move(change))));
    };
    const auto expected = [](const char* command, const char* flags, std::string_view value) {
        auto all = from_hex(std::string{command} + flags + "0001");
        for (const int shift : {24, 16, 8, 0})
            all.push_back(static_cast<std::uint8_t>(value.size() >> shift));
        all.push_back('p');
        all.insert(all.end(), value.begin(), value.end());
        return all;
    };
    EXPECT_EQ(bytes(cb::insert("p", "t")), expected("c7", "00", "\"t\""));
    EXPECT_EQ(bytes(cb::insert("p", true).create_path()), expected("c7", "01", "true"));
    EXPECT_EQ(bytes(cb::replace("p", std::vector{1, 2})), expected("ca", "00", "[1,2]"));
    EXPECT_EQ(bytes(cb::array_append("p", 1, "x")), expected("cb", "00", "1,\"x\""));
    EXPECT_EQ(bytes(cb::array_prepend("p", 1).create_path()), expected("cc", "01", "1"));
    EXPECT_EQ(bytes(cb::array_insert("p", 1)), expected("cd", "00", "1"));
    EXPECT_EQ(bytes(cb::array_add_unique("p", 1)), expected("ce", "00", "1"));
    EXPECT_EQ(bytes(cb::increment("p", 5)), expected("cf", "00", "5"));
    EXPECT_EQ(bytes(cb::decrement("p", 5)), expected("cf", "00", "-5"));
    EXPECT_EQ(bytes(cb::upsert("p", cb::raw_json{"{}"}).xattr()), expected("c8", "04", "{}"));
    EXPECT_EQ(bytes(cb::upsert("p", cb::mutation_macro::cas)),
              expected("c8", "14", "\"${Mutation.CAS}\""));
    EXPECT_EQ(bytes(cb::replace_body_with_xattr("p")), expected("d3", "04", ""));
    EXPECT_EQ(bytes(cb::upsert("", 1)), from_hex("01 00 0000 00000001 31"));
    EXPECT_EQ(bytes(cb::replace("", 1)), from_hex("01 00 0000 00000001 31"));
    EXPECT_EQ(bytes(cb::remove("")), from_hex("04 00 0000 00000000"));
}

TEST(mutate_in, store_semantics_are_flags_of_the_document)
{
    const auto extras = [](const cb::mutate_in_options& options) {
        return proof::copy_of(order_of(cb::changes(cb::upsert("a", 1)), options).extras.bytes());
    };
    using enum cb::store_semantics;
    EXPECT_EQ(extras({}), from_hex(""));
    EXPECT_EQ(extras({.store_semantics = upsert}), from_hex("01"));
    EXPECT_EQ(extras({.store_semantics = insert}), from_hex("02"));
    EXPECT_EQ(extras({.store_semantics = revive}), from_hex("14"));
    EXPECT_EQ(extras({.access_deleted = true}), from_hex("04"));
    EXPECT_EQ(extras({.store_semantics = insert, .create_as_deleted = true}), from_hex("0e"));
    EXPECT_EQ(extras({.expiry = cb::expiry::in(1s)}), from_hex("00000001"));
}

TEST(mutate_in, arguments_that_contradict_themselves_are_refused)
{
    const auto code = [](const cb::changes& what, const cb::mutate_in_options& options = {}) {
        const auto made = mutate_in_operation::make("a", what, options, here);
        return made ? error_code{} : made.error().code();
    };
    const auto one = cb::changes(cb::upsert("a", 1));
    using enum cb::store_semantics;
    EXPECT_EQ(code(cb::changes()), errc::invalid_argument);
    EXPECT_EQ(code(one, {.create_as_deleted = true}), errc::invalid_argument);
    EXPECT_EQ(code(one, {.cas = {1}, .store_semantics = insert}), errc::invalid_argument);
    EXPECT_EQ(code(one, {.expiry = cb::expiry::in(1s), .preserve_expiry = true}),
              errc::invalid_argument);
    EXPECT_EQ(code(one, {.expiry = cb::expiry::in(0s)}), errc::invalid_argument);
    EXPECT_EQ(code(cb::changes(cb::insert("", 1))), errc::invalid_argument);
    EXPECT_EQ(code(cb::changes(cb::increment("a", 0))), errc::invalid_argument);
    EXPECT_EQ(code(cb::changes(cb::decrement("a", INT64_MIN))), errc::invalid_argument);
    EXPECT_EQ(code(cb::changes(cb::upsert("a", "\xff"))), errc::encoding_failure);
    EXPECT_EQ(code(cb::changes(cb::upsert("a", cb::raw_json{"{"}))), errc::encoding_failure);
}

TEST(mutate_in, reply_gives_the_new_values_of_counters)
{
    const auto made = mutate_in_operation::make("ab",
                                                cb::changes(cb::upsert("a", 1), cb::increment("n"),
                                                            cb::increment("x").xattr()),
                                                {}, here)
                          .value();
    const auto token = from_hex("00000000000000aa 00000000000000bb");
    const auto value = from_hex("00 0000 00000001 37  02 0000 00000002 3432");
    const auto read = made.read({.cas = 3, .extras = token, .value = value}).value();
    EXPECT_EQ(read.as<int>(1), 42);
    EXPECT_EQ(read.as<int>(2), 7);
    EXPECT_EQ(read.content(0), "");
    EXPECT_TRUE(read.token());
    EXPECT_EQ(read.cas().value, 3u);
    for (const char* bad : {"00", "00 0000 00000002 37", "03 0000 00000001 37"}) {
        const auto bytes = from_hex(bad);
        EXPECT_EQ(made.read({.value = bytes}).error().code(), errc::decoding_failure) << bad;
    }
}

TEST(mutate_in, failure_names_the_path_as_the_caller_has_counted_it)
{
    const auto made = mutate_in_operation::make("ab",
                                                cb::changes(cb::upsert("a", 1), cb::insert("b", 1),
                                                            cb::upsert("x", 1).xattr()),
                                                {}, here)
                          .value();
    const auto value = from_hex("02 00c9");
    const auto failed =
        made.read({.status = kv_status::subdoc_multi_path_failure, .value = value}).error();
    EXPECT_EQ(failed.code(), errc::path_exists);
    EXPECT_EQ(failed.context("path"), "b");
    EXPECT_EQ(failed.context("index"), "1");
    EXPECT_EQ(failed.message(), "path \"b\": status 0xc9: path exists");
    for (const char* bad : {"", "02", "02 00", "03 00c9"}) {
        const auto bytes = from_hex(bad);
        EXPECT_EQ(made.read({.status = kv_status::subdoc_multi_path_failure, .value = bytes})
                      .error()
                      .code(),
                  errc::decoding_failure);
    }
}

TEST(mutate_in, exists_is_renamed_by_what_was_asked_for)
{
    const auto read = [](cb::store_semantics semantics) {
        return mutate_in_operation::make("a", cb::changes(cb::upsert("a", 1)),
                                         {.store_semantics = semantics}, here)
            .value()
            .read({.status = kv_status::exists})
            .error()
            .code();
    };
    EXPECT_TRUE(mutate_in_operation::is_answer(kv_status::exists));
    EXPECT_EQ(read(cb::store_semantics::insert), errc::document_exists);
    EXPECT_EQ(read(cb::store_semantics::replace), errc::cas_mismatch);
    EXPECT_EQ(read(cb::store_semantics::upsert), errc::cas_mismatch);
}

}  // namespace
}  // namespace holdfast::core::couchbase::subdoc_operation_test
