#include "lab/couchbase/data/subdoc.hpp"

#include "lab/couchbase/data/virtual_xattrs.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace holdfast::lab::couchbase::subdoc_test {
namespace {

using op = subdoc_opcode;

constexpr wall_time noon{std::chrono::seconds{1'700'000'000}};
const doc_key k{0, "k"};

struct lab_couchbase_subdoc_request : testing::Test {
    void set(std::string value)
    {
        new_content content;
        content.value = std::move(value);
        content.flags = 7;
        content.expiry = 100;
        store(vb, store_mode::set, k, std::move(content), noon);
    }

    mutate_reply change(std::vector<subdoc_spec> specs, std::uint8_t doc_flags = 0)
    {
        mutate_request what{specs, doc_flags};
        return mutate(vb, k, what, noon);
    }

    lookup_reply look(std::vector<subdoc_spec> specs, std::uint8_t doc_flags = 0)
    {
        return look_up(vb, k, {specs, doc_flags}, noon);
    }

    std::string body() { return get(vb, k, noon).value; }

    vbucket vb{5, 0xabc};
};

subdoc_spec in_body(op what, std::string path, std::string value = {}, std::uint8_t flags = 0)
{
    return {what, flags, std::move(path), std::move(value)};
}

subdoc_spec in_xattr(op what, std::string path, std::string value = {}, std::uint8_t flags = 0)
{
    return {what, static_cast<std::uint8_t>(flags | xattr_flag), std::move(path), std::move(value)};
}

TEST_F(lab_couchbase_subdoc_request, lookup_answers_each_path_for_itself)
{
    set(R"({"a":[1,2],"b":"x"})");
    const auto reply = look({in_body(op::get, "a[1]"), in_body(op::exists, "c"),
                             in_body(op::get_count, "a"), in_body(op::get_document, "")});
    EXPECT_EQ(reply.code, kv_status::subdoc_multi_path_failure);
    ASSERT_EQ(reply.results.size(), 4u);
    EXPECT_EQ(reply.results[0].value, "2");
    EXPECT_EQ(reply.results[1].code, kv_status::subdoc_path_not_found);
    EXPECT_EQ(reply.results[2].value, "2");
    EXPECT_EQ(reply.results[3].value, R"({"a":[1,2],"b":"x"})");
    EXPECT_EQ(look({in_body(op::get, "b")}).code, kv_status::success);
    EXPECT_NE(look({in_body(op::get, "b")}).cas, 0u);
}

TEST_F(lab_couchbase_subdoc_request, requests_that_no_server_takes_are_refused_as_a_whole)
{
    set("{}");
    EXPECT_EQ(look({}).code, kv_status::subdoc_invalid_combination);
    const std::vector<subdoc_spec> sixteen(16, in_body(op::exists, "a"));
    const std::vector<subdoc_spec> seventeen(17, in_body(op::exists, "a"));
    EXPECT_EQ(look(sixteen).code, kv_status::subdoc_multi_path_failure);
    EXPECT_EQ(look(seventeen).code, kv_status::subdoc_invalid_combination);
    EXPECT_EQ(look({in_body(op::get, "a"), in_xattr(op::get, "x")}).code,
              kv_status::subdoc_xattr_invalid_order);
    EXPECT_EQ(look({in_xattr(op::get_document, "")}).code, kv_status::invalid);
    EXPECT_EQ(change({in_body(op::get, "a")}).base.code, kv_status::subdoc_invalid_combination);
    EXPECT_EQ(change({in_body(op::dict_add, "a", "1", expand_macros_flag)}).base.code,
              kv_status::subdoc_xattr_invalid_flag_combination);
}

TEST_F(lab_couchbase_subdoc_request, missing_text_and_deep_documents_have_their_own_codes)
{
    EXPECT_EQ(look({in_body(op::get, "a")}).code, kv_status::not_found);
    EXPECT_EQ(change({in_body(op::dict_add, "a", "1")}).base.code, kv_status::not_found);
    set("not JSON");
    EXPECT_EQ(look({in_body(op::get, "a")}).results[0].code, kv_status::subdoc_not_json);
    set(std::string(33, '[') + std::string(33, ']'));
    EXPECT_EQ(look({in_body(op::get, "[0]")}).results[0].code, kv_status::subdoc_doc_too_deep);
    EXPECT_EQ(change({in_body(op::array_push_last, "", "1")}).failed,
              kv_status::subdoc_doc_too_deep);
}

TEST_F(lab_couchbase_subdoc_request, mutation_changes_all_paths_or_none)
{
    set(R"({"a":1})");
    const auto done = change({in_body(op::dict_upsert, "b", "2"), in_body(op::counter, "a", "5"),
                              in_body(op::array_push_last, "c", "3", create_parents_flag)});
    EXPECT_EQ(done.base.code, kv_status::success);
    ASSERT_EQ(done.results.size(), 1u);
    EXPECT_EQ(done.results[0].index, 1);
    EXPECT_EQ(done.results[0].value, "6");
    EXPECT_EQ(body(), R"({"a":6,"b":2,"c":[3]})");
    EXPECT_EQ(get(vb, k, noon).flags, 7u);
    EXPECT_EQ(get(vb, k, noon).cas, done.base.cas);

    const auto refused = change({in_body(op::dict_upsert, "b", "9"),
                                 in_body(op::dict_add, "a", "1"), in_body(op::dict_add, "z", "1")});
    EXPECT_EQ(refused.base.code, kv_status::subdoc_multi_path_failure);
    EXPECT_EQ(refused.failed_index, 1);
    EXPECT_EQ(refused.failed, kv_status::subdoc_path_exists);
    EXPECT_EQ(body(), R"({"a":6,"b":2,"c":[3]})");
}

TEST_F(lab_couchbase_subdoc_request, mutation_checks_cas_and_locks)
{
    set("{}");
    const std::vector<subdoc_spec> specs{in_body(op::dict_upsert, "a", "1")};
    mutate_request what{specs};
    what.cas = 1;
    EXPECT_EQ(mutate(vb, k, what, noon).base.code, kv_status::exists);
    what.cas = get(vb, k, noon).cas;
    EXPECT_EQ(mutate(vb, k, what, noon).base.code, kv_status::success);
    get_and_lock(vb, k, 5, noon);
    what.cas = 0;
    EXPECT_EQ(mutate(vb, k, what, noon).base.code, kv_status::locked);
}

TEST_F(lab_couchbase_subdoc_request, mutation_ends_the_expiry_unless_it_is_given_or_preserved)
{
    const std::vector<subdoc_spec> specs{in_body(op::dict_upsert, "a", "1")};
    set("{}");
    mutate_request what{specs};
    what.preserve_expiry = true;
    mutate(vb, k, what, noon);
    EXPECT_EQ(get_metadata(vb, k, noon).expiry, 1'700'000'100u);
    what.expiry = 5;
    mutate(vb, k, what, noon);
    EXPECT_EQ(get_metadata(vb, k, noon).expiry, 1'700'000'005u);
    mutate(vb, k, {specs}, noon);
    EXPECT_EQ(get_metadata(vb, k, noon).expiry, 0u);
}

TEST_F(lab_couchbase_subdoc_request, document_flags_create_add_and_refuse_existing_documents)
{
    EXPECT_EQ(change({in_body(op::dict_upsert, "a", "1")}, mkdoc_flag).base.code,
              kv_status::success);
    EXPECT_EQ(body(), R"({"a":1})");
    EXPECT_EQ(change({in_body(op::dict_upsert, "b", "1")}, add_flag).base.code, kv_status::exists);
    EXPECT_EQ(change({in_body(op::dict_upsert, "b", "1")}, add_flag | mkdoc_flag).base.code,
              kv_status::invalid);
    remove(vb, k, 0, noon);
    EXPECT_EQ(change({in_body(op::array_push_last, "", "1")}, add_flag).base.code,
              kv_status::success);
    EXPECT_EQ(body(), "[1]");
    remove(vb, k, 0, noon);
    EXPECT_EQ(change({in_xattr(op::dict_upsert, "x", "1")}, mkdoc_flag).base.code,
              kv_status::success);
    EXPECT_EQ(body(), "{}");
}

TEST_F(lab_couchbase_subdoc_request, whole_document_is_set_or_removed_beside_attributes)
{
    set("{}");
    EXPECT_EQ(change({in_xattr(op::dict_upsert, "x", "1"), in_body(op::set_document, "", "[2]")})
                  .base.code,
              kv_status::success);
    EXPECT_EQ(body(), "[2]");
    EXPECT_EQ(look({in_xattr(op::get, "x")}).results[0].value, "1");
    EXPECT_EQ(
        change({in_xattr(op::dict_upsert, "_s", "1"), in_body(op::remove_document, "")}).base.code,
        kv_status::success);
    EXPECT_EQ(get(vb, k, noon).code, kv_status::not_found);
}

TEST_F(lab_couchbase_subdoc_request, attributes_survive_a_set_and_system_ones_a_removal)
{
    set("{}");
    change({in_xattr(op::dict_upsert, "user.a", "1", create_parents_flag),
            in_xattr(op::dict_upsert, "_sys", R"({"b":2})")});
    set("[]");
    EXPECT_EQ(look({in_xattr(op::get, "user.a")}).results[0].value, "1");
    EXPECT_EQ(body(), "[]");
    remove(vb, k, 0, noon);
    EXPECT_EQ(look({in_xattr(op::get, "_sys.b")}).code, kv_status::not_found);
    const auto deleted = look({in_xattr(op::get, "_sys.b"), in_xattr(op::get, "user.a")},
                              access_deleted_flag);
    EXPECT_EQ(deleted.code, kv_status::subdoc_multi_path_failure_deleted);
    EXPECT_EQ(deleted.results[0].value, "2");
    EXPECT_EQ(deleted.results[1].code, kv_status::subdoc_path_not_found);
    EXPECT_EQ(look({in_xattr(op::get, "_sys.b")}, access_deleted_flag).code,
              kv_status::subdoc_success_deleted);
}

TEST_F(lab_couchbase_subdoc_request, tombstone_is_created_changed_and_revived)
{
    const auto made = change({in_xattr(op::dict_upsert, "t", R"({"n":[1]})")},
                             add_flag | create_as_deleted_flag | access_deleted_flag);
    EXPECT_EQ(made.base.code, kv_status::subdoc_success_deleted);
    EXPECT_EQ(get(vb, k, noon).code, kv_status::not_found);
    EXPECT_EQ(change({in_xattr(op::dict_upsert, "t.m", "2")}, access_deleted_flag).base.code,
              kv_status::subdoc_success_deleted);
    EXPECT_EQ(change({in_xattr(op::dict_add, "t.m", "2")}, access_deleted_flag).base.code,
              kv_status::subdoc_multi_path_failure_deleted);
    EXPECT_EQ(change({in_body(op::set_document, "", "{}")}, access_deleted_flag).base.code,
              kv_status::subdoc_deleted_document_cannot_have_value);
    const auto revived = change(
        {in_xattr(op::replace_body_with_xattr, "t.n"), in_xattr(op::remove, "t")},
        access_deleted_flag | revive_flag);
    EXPECT_EQ(revived.base.code, kv_status::success);
    EXPECT_EQ(body(), "[1]");
    EXPECT_EQ(
        change({in_xattr(op::dict_upsert, "t", "1")}, access_deleted_flag | revive_flag).base.code,
        kv_status::subdoc_can_only_revive_deleted_documents);
}

TEST_F(lab_couchbase_subdoc_request, macros_are_expanded_to_what_the_mutation_gets)
{
    set("{}");
    const auto done = change(
        {in_xattr(op::dict_upsert, "m.cas", R"("${Mutation.CAS}")",
                  create_parents_flag | expand_macros_flag),
         in_xattr(op::dict_upsert, "m.seqno", R"("${Mutation.seqno}")", expand_macros_flag),
         in_xattr(op::dict_upsert, "m.crc", R"("${Mutation.value_crc32c}")", expand_macros_flag),
         in_body(op::set_document, "", "123456789")});
    ASSERT_EQ(done.base.code, kv_status::success);
    const auto read = look({in_xattr(op::get, "m.seqno"), in_xattr(op::get, "m.crc"),
                            in_xattr(op::get, "m.cas"), in_xattr(op::get, "$document.CAS")});
    EXPECT_EQ(read.results[0].value, R"("0x0000000000000002")");
    EXPECT_EQ(read.results[1].value, R"("0xe3069283")");  // the check value of CRC-32C
    const std::string natural = read.results[3].value;
    EXPECT_EQ(natural, hex_string(done.base.cas));
    std::string bytewise = "\"0x";
    for (std::size_t at = natural.size() - 3; at > 2; at -= 2)
        bytewise += natural.substr(at, 2);
    EXPECT_EQ(read.results[2].value, bytewise + '"');
    EXPECT_EQ(
        change({in_xattr(op::dict_upsert, "m", R"("${Unknown}")", expand_macros_flag)}).failed,
        kv_status::subdoc_xattr_unknown_macro);
}

TEST_F(lab_couchbase_subdoc_request, virtual_attributes_describe_the_document_and_are_read_only)
{
    set(R"({"a":1})");
    change({in_xattr(op::dict_upsert, "x", "1")});
    const auto read = look({in_xattr(op::get, "$document.exptime"),
                            in_xattr(op::get, "$document.value_bytes"),
                            in_xattr(op::get, "$document.datatype"), in_xattr(op::get, "$XTOC"),
                            in_xattr(op::get, "$document.flags"), in_xattr(op::get, "$other")});
    EXPECT_EQ(read.results[0].value, "0");
    EXPECT_EQ(read.results[1].value, "7");
    EXPECT_EQ(read.results[2].value, R"(["json","xattr"])");
    EXPECT_EQ(read.results[3].value, R"(["x"])");
    EXPECT_EQ(read.results[4].value, "7");
    EXPECT_EQ(read.results[5].code, kv_status::subdoc_xattr_unknown_virtual_attribute);
    EXPECT_EQ(change({in_xattr(op::dict_upsert, "$document.flags", "1")}).failed,
              kv_status::subdoc_xattr_cannot_modify_virtual_attribute);
}

}  // namespace
}  // namespace holdfast::lab::couchbase::subdoc_test
