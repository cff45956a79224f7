#include "lab/couchbase/serve/kv_link.hpp"

namespace holdfast::lab::couchbase::documents_test {
namespace {

using op = kv_opcode;

std::string big(std::uint64_t number, int bytes)
{
    std::string text;
    while (bytes-- > 0)
        text += static_cast<char>(number >> static_cast<unsigned>(8 * bytes) & 0xffU);
    return text;
}

class lab_couchbase_documents : public kv_nodes {
protected:
    lab_couchbase_documents() { bootstrap(link); }

    sent_request request(op what, std::string value = {}, std::string extras = {})
    {
        sent_request made{.opcode = what, .key = "k", .value = std::move(value)};
        made.extras = std::move(extras);
        made.collection = 0;
        made.vbucket = mine;
        return made;
    }
    got_reply set(std::string value, std::uint32_t flags = 7)
    {
        return link.ask(request(op::upsert, std::move(value), big(flags, 4) + big(0, 4)));
    }

    const std::uint16_t mine = first.buckets.at("travel").vbuckets.begin()->first;
    const std::uint16_t other = second.buckets.at("travel").vbuckets.begin()->first;
};

TEST_F(lab_couchbase_documents, stored_document_is_answered_with_token_cas_flags_and_duration)
{
    const auto stored = set(R"({"a":1})");
    EXPECT_EQ(stored.status, kv_status::success);
    const auto& in = first.buckets.at("travel").vbuckets.at(mine);
    EXPECT_EQ(stored.extras, big(in.uuid(), 8) + big(1, 8));
    EXPECT_TRUE(stored.has_duration);
    const auto read = link.ask(request(op::get));
    EXPECT_EQ(read.value, R"({"a":1})");
    EXPECT_EQ(read.extras, big(7, 4));
    EXPECT_EQ(read.cas, stored.cas);
    EXPECT_EQ(read.datatype, kv_datatype::json);
}

TEST_F(lab_couchbase_documents, client_that_asked_for_nothing_gets_neither_token_nor_datatype)
{
    link.hello({});
    auto plain = request(op::upsert, "{}", big(0, 8));
    plain.collection.reset();
    const auto stored = link.ask(plain);
    EXPECT_EQ(stored.status, kv_status::success);
    EXPECT_EQ(stored.extras, "");
    EXPECT_FALSE(stored.has_duration);
    auto get = request(op::get);
    get.collection.reset();
    EXPECT_EQ(link.ask(get).datatype, kv_datatype::raw);
    auto lock = request(op::get_and_lock, "", big(5, 4));
    lock.collection.reset();
    link.ask(lock);
    EXPECT_EQ(link.ask(lock).status, kv_status::temporary_failure);
    EXPECT_EQ(link.ask(plain).status, kv_status::exists);
}

TEST_F(lab_couchbase_documents, vbucket_of_another_node_is_refused_with_one_configuration)
{
    auto foreign = request(op::get);
    foreign.vbucket = other;
    const auto refused = link.ask(foreign);
    EXPECT_EQ(refused.status, kv_status::not_my_vbucket);
    EXPECT_TRUE(refused.value.starts_with(R"({"rev":5)")) << refused.value.substr(0, 40);
    EXPECT_EQ(link.ask(foreign).value, "");
    first.members.revision.rev = 6;
    EXPECT_NE(link.ask(foreign).value, "");
    foreign.vbucket = 1024;
    EXPECT_EQ(link.ask(foreign).status, kv_status::not_my_vbucket);
    auto replica = request(op::get_replica);
    EXPECT_EQ(link.ask(replica).status, kv_status::not_my_vbucket);
}

TEST_F(lab_couchbase_documents, unknown_collection_is_refused_with_the_manifest_uid)
{
    auto unknown = request(op::get);
    unknown.collection = 99;
    const auto refused = link.ask(unknown);
    EXPECT_EQ(refused.status, kv_status::unknown_collection);
    EXPECT_EQ(refused.value, R"({"manifest_uid":"0"})");
    auto nameless = request(op::get);
    nameless.key.clear();
    EXPECT_EQ(link.ask(nameless).status, kv_status::invalid);
    nameless.collection.reset();
    EXPECT_EQ(link.ask(nameless).status, kv_status::invalid);
}

TEST_F(lab_couchbase_documents, each_operation_is_reached_by_its_opcode)
{
    EXPECT_EQ(link.ask(request(op::replace, "1", big(0, 8))).status, kv_status::not_found);
    EXPECT_EQ(link.ask(request(op::insert, "1", big(0, 8))).status, kv_status::success);
    EXPECT_EQ(link.ask(request(op::insert, "1", big(0, 8))).status, kv_status::exists);
    EXPECT_EQ(link.ask(request(op::replace, "5", big(0, 8))).status, kv_status::success);
    const std::string counter = big(2, 8) + big(0, 8) + big(0, 4);
    EXPECT_EQ(link.ask(request(op::increment, "", counter)).value, big(7, 8));
    EXPECT_EQ(link.ask(request(op::decrement, "", counter)).value, big(5, 8));
    EXPECT_EQ(link.ask(request(op::append, "6")).status, kv_status::success);
    EXPECT_EQ(link.ask(request(op::prepend, "4")).status, kv_status::success);
    EXPECT_EQ(link.ask(request(op::get)).value, "456");
    EXPECT_EQ(link.ask(request(op::touch, "", big(100, 4))).status, kv_status::success);
    EXPECT_EQ(link.ask(request(op::get_and_touch, "", big(0, 4))).value, "456");
    const auto meta = link.ask(request(op::get_meta, "", "\2"));
    EXPECT_EQ(meta.extras.size(), 21u);
    EXPECT_EQ(meta.extras.substr(0, 4), big(0, 4));
    EXPECT_EQ(meta.extras.back(), '\1');
    const auto locked = link.ask(request(op::get_and_lock, "", big(9, 4)));
    EXPECT_EQ(locked.value, "456");
    EXPECT_EQ(set("x").status, kv_status::locked);
    auto unlock = request(op::unlock);
    unlock.cas = locked.cas;
    EXPECT_EQ(link.ask(unlock).status, kv_status::success);
    EXPECT_EQ(link.ask(unlock).status, kv_status::not_locked);
    EXPECT_EQ(link.ask(request(op::remove)).status, kv_status::success);
    EXPECT_EQ(link.ask(request(op::get)).status, kv_status::not_found);
    EXPECT_EQ(link.ask(request(op::get_meta)).extras.substr(0, 4), big(1, 4));
    EXPECT_EQ(link.ask(request(op::get, "", "x")).status, kv_status::invalid);
}

TEST_F(lab_couchbase_documents, observe_reports_keys_and_sequence_numbers)
{
    set("1");
    const std::string name = std::string(1, '\0') + "k";
    const auto seen = link.ask(
        {.opcode = op::observe_cas, .value = big(mine, 2) + big(2, 2) + name});
    EXPECT_EQ(seen.value.substr(0, 7), big(mine, 2) + big(2, 2) + name + '\1');
    auto seqno = request(op::observe_seqno);
    seqno.key.clear();
    seqno.collection.reset();
    auto& in = first.buckets.at("travel").vbuckets.at(mine);
    const std::uint64_t old = in.uuid();
    seqno.value = big(old, 8);
    const std::string expected = big(mine, 2) + big(old, 8) + big(1, 8) + big(1, 8);
    EXPECT_EQ(link.ask(seqno).value, '\0' + expected);
    in.begin_history(55);
    EXPECT_EQ(link.ask(seqno).value,
              '\1' + big(mine, 2) + big(55, 8) + big(1, 8) + big(1, 8) + big(old, 8) + big(1, 8));
}

TEST_F(lab_couchbase_documents, subdocument_requests_have_their_results_in_the_value)
{
    set(R"({"a":[1,2]})");
    const auto lookup = [](char opcode, std::string path) {
        return std::string{opcode} + '\0' + big(path.size(), 2) + path;
    };
    const auto found = link.ask(
        request(op::subdoc_multi_lookup, lookup('\xc5', "a[1]") + lookup('\xc6', "b")));
    EXPECT_EQ(found.status, kv_status::subdoc_multi_path_failure);
    EXPECT_EQ(found.value, big(0, 2) + big(1, 4) + "2" + big(0xc0, 2) + big(0, 4));
    const auto change = [](char opcode, std::string path, std::string value) {
        return std::string{opcode} + '\1' + big(path.size(), 2) + big(value.size(), 4) + path +
               value;
    };
    const auto done = link.ask(
        request(op::subdoc_multi_mutation, change('\xcf', "n", "3") + change('\xc8', "x.y", "1")));
    EXPECT_EQ(done.status, kv_status::success);
    EXPECT_EQ(done.extras.size(), 16u);
    EXPECT_EQ(done.value, big(0, 1) + big(0, 2) + big(1, 4) + "3");
    EXPECT_EQ(link.ask(request(op::get)).value, R"({"a":[1,2],"n":3,"x":{"y":1}})");
    const auto refused = link.ask(
        request(op::subdoc_multi_mutation, change('\xc8', "z", "1") + change('\xc7', "n", "1")));
    EXPECT_EQ(refused.status, kv_status::subdoc_multi_path_failure);
    EXPECT_EQ(refused.value, big(1, 1) + big(0xc9, 2));
    EXPECT_EQ(link.ask(request(op::subdoc_multi_lookup, "\xc5")).status, kv_status::invalid);
}

TEST_F(lab_couchbase_documents, compressed_document_is_given_back_as_the_client_can_read_it)
{
    const std::string text = "[" + std::string(1000, ' ') + "]";
    auto packed = request(op::upsert, text, big(0, 8));
    packed.may_compress = true;
    packed.datatype = kv_datatype::json;
    EXPECT_EQ(link.ask(packed).status, kv_status::success);
    const auto read = link.ask(request(op::get));
    EXPECT_EQ(read.datatype, kv_datatype::json | kv_datatype::snappy);
    EXPECT_LT(read.value.size(), 200u);
    link.hello({0x0b, 0x12});
    const auto plain = link.ask(request(op::get));
    EXPECT_EQ(plain.datatype, kv_datatype::json);
    EXPECT_EQ(plain.value, text);
    auto unasked = request(op::upsert, "x", big(0, 8));
    unasked.datatype = kv_datatype::snappy;
    EXPECT_EQ(link.ask(unasked).status, kv_status::invalid);
    link.hello({0x0a, 0x12});
    EXPECT_EQ(link.ask(unasked).status, kv_status::invalid);
}

TEST_F(lab_couchbase_documents, durable_write_needs_a_majority_of_the_copies)
{
    auto durable = request(op::upsert, "x", big(0, 8));
    durable.infos.durability = core::couchbase::kv_durability::majority;
    EXPECT_EQ(link.ask(durable).status, kv_status::success);
    first.buckets.at("travel").find_active(mine)->set_chain({0, no_node, no_node});
    EXPECT_EQ(link.ask(durable).status, kv_status::durability_impossible);
    durable.extras.clear();
    for (const op what : {op::append, op::remove, op::subdoc_multi_mutation}) {
        durable.opcode = what;
        durable.value = what == op::append ? "x" : "";
        EXPECT_EQ(link.ask(durable).status, kv_status::durability_impossible);
    }
}

TEST_F(lab_couchbase_documents, pipelined_requests_are_answered_in_one_write_each_once)
{
    for (std::uint32_t n = 0; n != 100; ++n)
        link.write(request(op::get), n);
    EXPECT_EQ(link.flush(), need::bytes);
    const auto all = link.replies();
    ASSERT_EQ(all.size(), 100u);
    for (std::uint32_t n = 0; n != 100; ++n)
        EXPECT_EQ(all[n].opaque, n);
}

TEST_F(lab_couchbase_documents, reply_waits_until_the_stream_is_writable)
{
    set(std::string(1000, 'x'));
    link.to.written.clear();
    link.to.room = 10;
    link.write(request(op::get), 3);
    EXPECT_EQ(link.flush(), need::writable);
    link.to.room = std::size_t(-1);
    EXPECT_EQ(link.talk.advance(link.to), need::bytes);
    const auto all = link.replies();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].value, std::string(1000, 'x'));
}

}  // namespace
}  // namespace holdfast::lab::couchbase::documents_test
