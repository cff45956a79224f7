// Whatever a client sends to a data node of the lab: frames, requests with subdocument paths,
// logins. Nothing may crash, the memory of a connection is bounded, and the node still answers
// others afterwards.
#include "core/couchbase/wire/frame_writer.hpp"
#include "lab/couchbase/serve/kv_conversation.hpp"
#include "require.hpp"
#include "support/virtual_world.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace holdfast;
using namespace holdfast::lab::couchbase;
using bytes = std::span<const std::uint8_t>;
using core::couchbase::kv_feature;
using core::couchbase::kv_opcode;
using lab::need;

constexpr std::size_t vbuckets = 4;

/// Takes what the server replies, in pieces, and keeps nothing of it.
class draining_stream final : public runtime::stream {
public:
    runtime::awaitable<runtime::io_result> read_some(std::span<std::uint8_t>) override
    {
        co_return runtime::io_result{};
    }
    runtime::io_result write_now(bytes reply) override
    {
        if (++calls_ % 3 == 0)
            return {make_error_code(boost::system::errc::operation_would_block), 0};
        const std::size_t taken = std::min<std::size_t>(reply.size(), 1000);
        written += taken;
        return {{}, taken};
    }
    runtime::awaitable<error_code> writable() override { co_return error_code{}; }
    void expires_at(time_point) override {}
    void cancel() noexcept override {}
    std::string peer() const override { return "fuzzer:1"; }

    std::size_t written = 0;

private:
    std::size_t calls_ = 0;
};

/// One node that has all vbuckets of a bucket.
struct server {
    server()
    {
        cluster_members members;
        members.revision = {1, 5};
        members.nodes = {{0, "one", {{"kv", 1001}}}};
        machine.members = members;
        static const user_account account = make_account(world, "lovelace").value();
        machine.users.emplace("ada", account);
        machine.known_buckets = {"travel"};
        const std::vector<int> alone{0};
        std::uint64_t drawn = 100;
        adopt_layout(machine.buckets["travel"], 0,
                     {"travel", "u", 0, balance(alone, {.vbuckets = vbuckets}), "0"},
                     [&] { return ++drawn; });
    }

    proof::virtual_world world;
    node machine{world, 0, {}};
};

/// Talks until the input is used up, the node closes the connection, or it wants to wait.
void talk(server& to, bytes input, std::size_t piece, bool logged_in)
{
    kv_conversation one{to.machine, false};
    if (logged_in) {
        one.client().user = "ada";
        one.client().bucket = "travel";
        for (const kv_feature feature :
             {kv_feature::json, kv_feature::snappy, kv_feature::xattr, kv_feature::collections,
              kv_feature::xerror, kv_feature::mutation_seqno, kv_feature::alt_request})
            one.client().features.add(feature);
    }
    draining_stream stream;
    for (int steps = 0; steps < 2'000; ++steps) {
        const need next = one.advance(stream);
        if (next == need::writable)
            continue;
        if (next != need::bytes || input.empty())
            break;
        const auto room = one.unread();
        REQUIRE(!room.empty() && room.size() <= (std::size_t{22} << 20U));
        const std::size_t count = std::min({piece, room.size(), input.size()});
        std::memcpy(room.data(), input.data(), count);
        one.received(count);
        input = input.subspan(count);
    }
    one.closed();
}

/// Lengths are rarely right by chance, and documents rarely where they are looked for: the same
/// bytes as the extras and the value of a request for one that is there.
std::vector<std::uint8_t> as_requests(bytes input, std::uint8_t which, std::uint8_t shape)
{
    constexpr kv_opcode opcodes[] = {kv_opcode::get,
                                     kv_opcode::upsert,
                                     kv_opcode::insert,
                                     kv_opcode::replace,
                                     kv_opcode::remove,
                                     kv_opcode::increment,
                                     kv_opcode::append,
                                     kv_opcode::touch,
                                     kv_opcode::get_and_touch,
                                     kv_opcode::hello,
                                     kv_opcode::sasl_auth,
                                     kv_opcode::sasl_step,
                                     kv_opcode::select_bucket,
                                     kv_opcode::get_and_lock,
                                     kv_opcode::unlock,
                                     kv_opcode::get_meta,
                                     kv_opcode::get_cluster_config,
                                     kv_opcode::get_collection_id,
                                     kv_opcode::subdoc_get,
                                     kv_opcode::subdoc_upsert,
                                     kv_opcode::subdoc_array_insert,
                                     kv_opcode::subdoc_counter,
                                     kv_opcode::subdoc_multi_lookup,
                                     kv_opcode::subdoc_multi_lookup,
                                     kv_opcode::subdoc_multi_mutation,
                                     kv_opcode::subdoc_multi_mutation,
                                     kv_opcode::subdoc_replace_body_with_xattr,
                                     kv_opcode::get_error_map,
                                     kv_opcode::stat};
    bson::byte_buffer out;
    core::couchbase::request_frame there;
    constexpr std::uint8_t no_flags[8] = {};
    there.opcode = kv_opcode::upsert;
    there.extras = no_flags;
    there.collection = 0;
    there.key = "k";
    there.value = core::couchbase::as_octets(R"({"a":{"b":[1,"x",null]},"n":7,"s":"t"})");
    core::couchbase::request_frame one;
    one.opcode = opcodes[which % std::size(opcodes)];
    one.extras = input.first(std::min<std::size_t>(shape % 32U, input.size()));
    one.collection = shape >= 0xf0 ? shape : 0U;
    one.key = "k";
    one.value = input.subspan(one.extras.size());
    one.opaque = 1;
    // Whichever vbucket it is that the key belongs to: the node does not look.
    REQUIRE(core::couchbase::write_request(out, there).has_value());
    REQUIRE(core::couchbase::write_request(out, one).has_value());
    return {out.bytes().begin(), out.bytes().end()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 3)
        return 0;
    // Now and then a new one, so that what it has stored does not matter for long.
    static std::unique_ptr<server> kept;
    static std::size_t served = 0;
    if (served++ % 1'000 == 0)
        kept = std::make_unique<server>();
    const bytes input{data + 3, size - 3};
    const std::size_t piece = std::size_t{1} + data[0];
    talk(*kept, input, piece, data[1] % 2 == 0);
    talk(*kept, as_requests(input, data[1], data[2]), piece * 16, true);

    bson::byte_buffer out;
    core::couchbase::request_frame noop;
    noop.opcode = kv_opcode::noop;
    REQUIRE(core::couchbase::write_request(out, noop).has_value());
    kv_conversation other{kept->machine, false};
    draining_stream stream;
    REQUIRE(other.advance(stream) == need::bytes);
    std::ranges::copy(out.bytes(), other.unread().begin());
    other.received(out.bytes().size());
    for (int steps = 0; steps < 10 && stream.written < 24; ++steps)
        (void)other.advance(stream);
    REQUIRE(stream.written == 24);
    other.closed();
    return 0;
}
