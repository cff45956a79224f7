// lookup_in and mutate_in, on the lab in the simulator.
#include "client/couchbase/operation_fixture.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>
#include <string>

namespace holdfast::couchbase_subdocuments_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using couchbase::errc;
using couchbase::expiry;
using couchbase::raw_json;
using couchbase::store_semantics;
using proof::use_awaitable;
namespace cb = couchbase;

class couchbase_subdocuments : public proof::operation_fixture {
protected:
    void store(const std::string& json)
    {
        const raw_json content{json};
        good(all.upsert("a", content, {}, use_awaitable));
    }
    std::string text() { return good(all.get("a", {}, use_awaitable)).content.text(); }
    error_code changed(const cb::changes& what, cb::mutate_in_options options = {})
    {
        return code(all.mutate_in("a", what, options, use_awaitable));
    }
};

TEST_F(couchbase_subdocuments, lookup_gives_each_path_its_own_outcome)
{
    store(R"({"name":"KLM","routes":["AMS","JFK"],"deep":{"n":7}})");
    const cb::lookup paths{cb::get("name"),    cb::exists("iata"),   cb::count("routes"),
                           cb::get("deep.n"),  cb::get("routes[1]"), cb::get("none"),
                           cb::exists("name"), cb::get("name.x"),    cb::get("")};
    const auto found = good(all.lookup_in("a", paths, {}, use_awaitable));
    ASSERT_EQ(found.size(), 9u);
    EXPECT_TRUE(found.cas());
    EXPECT_EQ(found.as<std::string>(0), "KLM");
    EXPECT_FALSE(found.as<bool>(1));
    EXPECT_EQ(found.as<int>(2), 2);
    EXPECT_EQ(found.as<int>(3), 7);
    EXPECT_EQ(found.as<std::string>(4), "JFK");
    EXPECT_EQ(found.code(5), errc::path_not_found);
    EXPECT_TRUE(found.as<bool>(6));
    EXPECT_EQ(found.code(7), errc::path_mismatch);
    EXPECT_NE(found.content(8).find("KLM"), std::string_view::npos);
    const auto missing = found.try_as<std::string>(5);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().context("path"), "none");
    EXPECT_NE(missing.error().message().find("none"), std::string::npos);
    EXPECT_EQ(found.try_as<int>(0).error().code(), errc::decoding_failure);
    EXPECT_EQ(found.try_as<int>(9).error().code(), errc::invalid_argument);
}

TEST_F(couchbase_subdocuments, errors_of_the_document_are_errors_of_the_lookup)
{
    const cb::lookup path{cb::get("n")};
    EXPECT_EQ(code(all.lookup_in("none", path, {}, use_awaitable)), errc::document_not_found);
    const cb::raw_text text{"no JSON"};
    good(all.upsert("a", text, {}, use_awaitable));
    const auto found = good(all.lookup_in("a", path, {}, use_awaitable));
    EXPECT_EQ(found.code(0), errc::document_not_json);
    EXPECT_EQ(code(all.lookup_in("a", cb::lookup{}, {}, use_awaitable)), errc::invalid_argument);
    cb::lookup many;
    for (int i = 0; i < 17; ++i)
        many.add(cb::get("n"));
    EXPECT_EQ(code(all.lookup_in("a", many, {}, use_awaitable)), errc::invalid_argument);
}

TEST_F(couchbase_subdocuments, every_kind_of_change_is_made)
{
    store(R"({"n":1,"list":[2],"gone":0,"old":"x"})");
    const cb::changes edit{
        cb::upsert("hub", "AMS"),       cb::insert("made.here", true).create_path(),
        cb::replace("old", "new"),      cb::remove("gone"),
        cb::array_append("list", 3, 4), cb::array_prepend("list", 1),
        cb::array_insert("list[1]", 9), cb::array_add_unique("list", 5),
        cb::increment("n", 5),          cb::decrement("n", 2)};
    const auto done = good(all.mutate_in("a", edit, {}, use_awaitable));
    EXPECT_TRUE(done.cas());
    EXPECT_TRUE(done.token());
    EXPECT_EQ(done.as<int>(8), 6);
    EXPECT_EQ(done.as<int>(9), 4);
    const cb::lookup paths{cb::get("hub"),  cb::get("made.here"), cb::get("old"),
                           cb::get("list"), cb::get("n"),         cb::exists("gone")};
    const auto found = good(all.lookup_in("a", paths, {}, use_awaitable));
    EXPECT_EQ(found.content(0), R"("AMS")");
    EXPECT_EQ(found.content(1), "true");
    EXPECT_EQ(found.content(2), R"("new")");
    EXPECT_EQ(found.as<std::vector<int>>(3), (std::vector{1, 9, 2, 3, 4, 5}));
    EXPECT_EQ(found.as<int>(4), 4);
    EXPECT_FALSE(found.exists(5));
}

struct failing_change {
    cb::path_change change;
    errc code;
    const char* path;
};

TEST_F(couchbase_subdocuments, change_that_fails_names_its_path_and_nothing_is_changed)
{
    VERIFIES_BY_TRAFFIC("CR-080");
    const std::string before = R"({"n":1,"s":"x","list":[1],"most":9223372036854775807})";
    store(before);
    scene.count_requests(kv_opcode::subdoc_multi_mutation);
    const failing_change rows[] = {
        {cb::replace("none", 1), errc::path_not_found, "none"},
        {cb::remove("none"), errc::path_not_found, "none"},
        {cb::insert("n", 1), errc::path_exists, "n"},
        {cb::upsert("s.x", 1), errc::path_mismatch, "s.x"},
        {cb::upsert("no.way.here", 1), errc::path_not_found, "no.way.here"},
        {cb::array_add_unique("list", 1), errc::path_exists, "list"},
        {cb::array_append("s", 1), errc::path_mismatch, "s"},
        {cb::increment("s"), errc::path_mismatch, "s"},
        {cb::increment("most"), errc::value_invalid, "most"},
        {cb::upsert("a..b", 1), errc::path_invalid, "a..b"},
    };
    std::int64_t sent = 0;
    for (const failing_change& row : rows) {
        const cb::changes edit{cb::upsert("first", 1), row.change};
        const auto failed = scene.run(all.mutate_in("a", edit, {}, use_awaitable));
        EXPECT_EQ(failed->code(), row.code) << row.path << ": " << failed->explain();
        if (!failed->good()) {
            EXPECT_EQ(failed->error().context("path"), row.path);
            EXPECT_EQ(failed->error().context("index"), "1");
            EXPECT_NE(failed->error().message().find(row.path), std::string::npos);
            EXPECT_EQ(failed->error().context("may_have_been_applied"), "false");
            EXPECT_EQ(failed->error().history().size(), 1u);
        }
        EXPECT_EQ(scene.counted(kv_opcode::subdoc_multi_mutation), ++sent);
    }
    EXPECT_EQ(text(), before);
}

TEST_F(couchbase_subdocuments, store_semantics_decide_what_becomes_of_a_missing_document)
{
    const cb::changes edit{cb::upsert("n", 1)};
    EXPECT_EQ(changed(edit), errc::document_not_found);
    EXPECT_EQ(changed(edit, {.store_semantics = store_semantics::upsert}), error_code{});
    EXPECT_EQ(changed(edit, {.store_semantics = store_semantics::upsert}), error_code{});
    EXPECT_EQ(changed(edit, {.store_semantics = store_semantics::insert}), errc::document_exists);
    good(all.remove("a", {}, use_awaitable));
    EXPECT_EQ(changed(edit, {.store_semantics = store_semantics::insert}), error_code{});
    EXPECT_EQ(text(), R"({"n":1})");
}

TEST_F(couchbase_subdocuments, whole_documents_are_stored_and_removed_by_the_empty_path)
{
    const cb::changes whole{cb::upsert("meta", 1).xattr(), cb::upsert("", raw_json{R"({"m":2})"})};
    EXPECT_EQ(changed(whole, {.store_semantics = store_semantics::insert}), error_code{});
    EXPECT_EQ(text(), R"({"m":2})");
    const cb::changes gone{cb::upsert("meta", 1).xattr(), cb::remove("")};
    EXPECT_EQ(changed(gone), error_code{});
    EXPECT_EQ(code(all.get("a", {}, use_awaitable)), errc::document_not_found);
    const cb::changes refused{cb::insert("", 1)};
    EXPECT_EQ(changed(refused), errc::invalid_argument);
}

TEST_F(couchbase_subdocuments, change_of_another_version_is_a_mismatch)
{
    store("{}");
    const auto old = good(all.get("a", {}, use_awaitable)).cas;
    const cb::changes edit{cb::upsert("n", 1)};
    EXPECT_EQ(changed(edit, {.cas = old}), error_code{});
    EXPECT_EQ(changed(edit, {.cas = old}), errc::cas_mismatch);
    EXPECT_EQ(changed(edit, {.cas = old, .store_semantics = store_semantics::insert}),
              errc::invalid_argument);
}

TEST_F(couchbase_subdocuments, expiry_of_the_document_is_set_or_preserved)
{
    store("{}");
    const cb::changes edit{cb::upsert("n", 1)};
    EXPECT_EQ(changed(edit, {.expiry = expiry::in(1h)}), error_code{});
    EXPECT_TRUE(good(all.get("a", {.with_expiry = true}, use_awaitable)).expiry);
    EXPECT_EQ(changed(edit, {.preserve_expiry = true}), error_code{});
    EXPECT_TRUE(good(all.get("a", {.with_expiry = true}, use_awaitable)).expiry);
    EXPECT_EQ(changed(edit, {.expiry = expiry::in(1h), .preserve_expiry = true}),
              errc::invalid_argument);
}

TEST_F(couchbase_subdocuments, attributes_and_macros_are_kept_beside_the_body)
{
    store("{}");
    // The body's path is given first: the client sends attributes first, as servers demand.
    const cb::changes edit{cb::upsert("n", 1),
                           cb::upsert("app.cas", cb::mutation_macro::cas).create_path(),
                           cb::upsert("app.crc", cb::mutation_macro::value_crc32c),
                           cb::upsert("app.seq", cb::mutation_macro::sequence_number),
                           cb::upsert("app.by", "ada").xattr()};
    const auto done = good(all.mutate_in("a", edit, {}, use_awaitable));
    const cb::lookup paths{cb::get("n"), cb::get("app.cas").xattr(), cb::get("app.by").xattr(),
                           cb::get("app.crc").xattr(), cb::get("$document.exptime").xattr()};
    const auto found = good(all.lookup_in("a", paths, {}, use_awaitable));
    EXPECT_EQ(found.as<int>(0), 1);
    EXPECT_TRUE(found.as<std::string>(1).starts_with("0x")) << found.content(1);
    EXPECT_EQ(found.as<std::string>(2), "ada");
    EXPECT_TRUE(found.exists(3));
    EXPECT_EQ(found.as<int>(4), 0);
    EXPECT_EQ(text(), R"({"n":1})");
    const cb::changes refused{cb::upsert("$document.exptime", 1).xattr()};
    EXPECT_EQ(changed(refused), errc::xattr_cannot_modify_virtual_attribute);
    const cb::lookup unknown{cb::get("$nothing.here").xattr()};
    EXPECT_EQ(good(all.lookup_in("a", unknown, {}, use_awaitable)).code(0),
              errc::xattr_unknown_virtual_attribute);
}

TEST_F(couchbase_subdocuments, deleted_documents_have_attributes_and_can_be_revived)
{
    const cb::changes staged{cb::upsert("txn.body", raw_json{R"({"n":1})"}).xattr().create_path()};
    const auto made = good(all.mutate_in("a", staged,
                                         {.store_semantics = store_semantics::insert,
                                          .access_deleted = true,
                                          .create_as_deleted = true},
                                         use_awaitable));
    EXPECT_TRUE(made.is_deleted());
    EXPECT_EQ(code(all.get("a", {}, use_awaitable)), errc::document_not_found);
    const cb::lookup path{cb::get("txn.body").xattr()};
    EXPECT_EQ(code(all.lookup_in("a", path, {}, use_awaitable)), errc::document_not_found);
    const auto seen = good(all.lookup_in("a", path, {.access_deleted = true}, use_awaitable));
    EXPECT_TRUE(seen.is_deleted());
    EXPECT_EQ(seen.content(0), R"({"n":1})");
    const cb::changes revived{cb::replace_body_with_xattr("txn.body"), cb::remove("txn").xattr()};
    const auto back = good(
        all.mutate_in("a", revived, {.cas = made.cas(), .store_semantics = store_semantics::revive},
                      use_awaitable));
    EXPECT_FALSE(back.is_deleted());
    EXPECT_EQ(text(), R"({"n":1})");
    EXPECT_EQ(changed(staged, {.store_semantics = store_semantics::revive}),
              errc::cannot_revive_living_document);
    EXPECT_EQ(changed(staged, {.create_as_deleted = true}), errc::invalid_argument);
}

TEST_F(couchbase_subdocuments, lookup_survives_a_cut_and_mutation_is_in_doubt)
{
    VERIFIES_BY_TRAFFIC("CR-076");
    store(R"({"n":1})");
    lab::couchbase::kv_fault cut;
    cut.close_connection = true;
    scene.fault_everywhere(kv_opcode::subdoc_multi_lookup, cut, lab::activation::times(1));
    const cb::lookup path{cb::get("n")};
    EXPECT_EQ(good(all.lookup_in("a", path, {}, use_awaitable)).as<int>(0), 1);
    scene.simulation.run_for(2s);
    scene.fault_everywhere(kv_opcode::subdoc_multi_mutation, cut, lab::activation::times(1));
    const cb::changes edit{cb::increment("n")};
    const auto lost = scene.run(all.mutate_in("a", edit, {}, use_awaitable));
    EXPECT_EQ(lost->code(), errc::request_canceled) << lost->explain();
    EXPECT_EQ(lost->error().context("may_have_been_applied"), "true");
}

TEST_F(couchbase_subdocuments, values_that_are_no_json_are_refused_before_they_are_sent)
{
    store("{}");
    scene.count_requests(kv_opcode::subdoc_multi_mutation);
    const cb::changes edit{cb::upsert("n", std::string{"\xff"})};
    const auto failed = scene.run(all.mutate_in("a", edit, {}, use_awaitable));
    EXPECT_EQ(failed->code(), errc::encoding_failure) << failed->explain();
    EXPECT_EQ(changed(cb::changes{cb::increment("n", 0)}), errc::invalid_argument);
    EXPECT_EQ(scene.counted(kv_opcode::subdoc_multi_mutation), 0);
}

}  // namespace
}  // namespace holdfast::couchbase_subdocuments_test
