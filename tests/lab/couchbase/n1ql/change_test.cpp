#include "lab/couchbase/n1ql/change.hpp"

#include "lab/couchbase/n1ql/memory_store.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace holdfast::lab::couchbase::n1ql::change_test {
namespace {

class lab_couchbase_n1ql_change : public testing::Test {
protected:
    std::string run(std::string_view statement, run_options options = {})
    {
        return joined(rows_of(store, statement, R"({"k":"p","v":{"x":1}})", options));
    }
    std::string content(const std::string& key) const
    {
        const auto& all = store.documents.at({"travel"});
        const auto found = all.find(key);
        return found == all.end() ? "" : found->second.text;
    }

    memory_store store;
};

TEST_F(lab_couchbase_n1ql_change, inserted_documents_are_new_ones)
{
    EXPECT_EQ(run("INSERT INTO travel (KEY, VALUE) VALUES ('a', {'n': 1}), ('b', {'n': 2})"), "");
    EXPECT_EQ(content("b"), R"({"n":2})");
    EXPECT_EQ(run("INSERT INTO travel (KEY, VALUE) VALUES ('c', 1), VALUES ('a', 2)"),
              "error 12009");
    EXPECT_EQ(content("c"), "1");
    EXPECT_EQ(content("a"), R"({"n":1})");
    EXPECT_EQ(run("INSERT INTO travel VALUES ($k, $v) RETURNING META().id, x"),
              R"({"id":"p","x":1})");
    EXPECT_EQ(run("INSERT INTO travel VALUES (7, 1)"), "error 5070");
    EXPECT_EQ(run("INSERT INTO travel (KEY, VALUE, OPTIONS) VALUES ('e', 1, {'expiration': 60})"),
              "");
    EXPECT_EQ(store.documents[{"travel"}]["e"].expiry, 60U);
}

TEST_F(lab_couchbase_n1ql_change, reason_of_a_duplicate_is_one_that_clients_know)
{
    store.put("a", "1");
    environment in;
    const auto parsed = parse("INSERT INTO travel VALUES ('a', 2)");
    const auto begun = start(**parsed, store, in);
    std::string row;
    const auto done = (*begun)->next(row);
    ASSERT_FALSE(done);
    EXPECT_EQ(reason_of(done.error()), dml_reason::document_exists);
}

TEST_F(lab_couchbase_n1ql_change, upserted_documents_replace)
{
    EXPECT_EQ(run("UPSERT INTO travel AS t (KEY, VALUE) VALUES ('a', {'n': 1}) RETURNING t.n"),
              R"({"n":1})");
    EXPECT_EQ(run("UPSERT INTO travel VALUES ('a', {'n': 2}) RETURNING RAW n"), "2");
    EXPECT_EQ(content("a"), R"({"n":2})");
}

TEST_F(lab_couchbase_n1ql_change, update_sets_and_removes_paths)
{
    store.put("a", R"({"n":1,"o":{"p":1},"l":[1,2]})");
    store.put("b", R"({"n":5})");
    EXPECT_EQ(run("UPDATE travel AS t USE KEYS 'a' SET t.n = t.n + 1, o.q = n, l[1] = 9, x.y = 1"),
              "");
    EXPECT_EQ(content("a"), R"({"n":2,"o":{"p":1,"q":1},"l":[1,9]})");
    EXPECT_EQ(run("UPDATE travel SET s = 'x' UNSET o WHERE n < 3 RETURNING META().id, s"),
              R"({"id":"a","s":"x"})");
    EXPECT_EQ(content("a"), R"({"n":2,"l":[1,9],"s":"x"})");
    EXPECT_EQ(run("UPDATE travel SET n = 0 LIMIT 1 RETURNING RAW META().id"), R"("a")");
    EXPECT_EQ(content("b"), R"({"n":5})");
    EXPECT_EQ(run("UPDATE travel SET n = $nothing"), "error 5010");
}

TEST_F(lab_couchbase_n1ql_change, update_ends_the_expiry_unless_it_is_to_be_kept)
{
    store.put("a", "{}");
    auto& stored = store.documents[{"travel"}]["a"];
    stored.expiry = 100;
    EXPECT_EQ(run("UPDATE travel SET n = 1", {.preserve_expiry = true}), "");
    EXPECT_EQ(stored.expiry, 100U);
    EXPECT_EQ(run("UPDATE travel SET n = 1"), "");
    EXPECT_EQ(stored.expiry, 0U);
    EXPECT_EQ(run("UPDATE travel AS t SET META(t).expiration = 50"), "");
    EXPECT_EQ(stored.expiry, 50U);
}

TEST_F(lab_couchbase_n1ql_change, removed_documents_are_given_back)
{
    store.put("a", R"({"n":1})");
    store.put("b", R"({"n":2})");
    store.put("c", R"({"n":3})");
    EXPECT_EQ(run("DELETE FROM travel WHERE n > 1 LIMIT 1 RETURNING *"), R"({"travel":{"n":2}})");
    EXPECT_EQ(run("DELETE FROM travel USE KEYS ['a', 'x']"), "");
    EXPECT_EQ(content("a") + content("b") + content("c"), R"({"n":3})");
}

TEST_F(lab_couchbase_n1ql_change, document_that_changed_meanwhile_is_not_replaced)
{
    store.put("a", R"({"n":1})");
    environment in;
    const auto parsed = parse("UPDATE travel SET n = 2");
    const auto begun = start(**parsed, store, in);
    store.put("b", "{}");
    std::string row;
    EXPECT_EQ(*(*begun)->next(row), progress::work);
    EXPECT_EQ((*begun)->counts().mutations, 1U);
    EXPECT_EQ(*(*begun)->next(row), progress::end);  // `b` came after the scan
}

}  // namespace
}  // namespace holdfast::lab::couchbase::n1ql::change_test
