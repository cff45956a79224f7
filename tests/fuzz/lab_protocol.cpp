// Whatever a client sends to a server of the lab: frames, commands, logins. Nothing may crash, the
// memory of a connection is bounded, and the server still answers others afterwards.
#include "core/mongo/wire/message_builder.hpp"
#include "lab/mongo/command/tables.hpp"
#include "lab/mongo/node/node.hpp"
#include "lab/mongo/serve/conversation.hpp"
#include "lab/mongo/serve/node_service.hpp"
#include "require.hpp"
#include "support/virtual_world.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace {

using namespace holdfast;
using namespace holdfast::lab::mongo;
using bytes = std::span<const std::uint8_t>;

/// Takes what the server says, in pieces, and keeps nothing but the last message.
class listening_stream final : public runtime::stream {
public:
    runtime::awaitable<runtime::io_result> read_some(std::span<std::uint8_t>) override
    {
        co_return runtime::io_result{};
    }
    runtime::io_result write_now(bytes said) override
    {
        if (++calls_ % 3 == 0)
            return {make_error_code(boost::system::errc::operation_would_block), 0};
        const std::size_t taken = std::min<std::size_t>(said.size(), 1000);
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

struct server {
    explicit server(bool auth)
        : machine{world, std::make_shared<disk>(20 << 20), options(auth)}, behind{machine}
    {
        for (const std::span<const command> part : all_commands())
            machine.add_commands(part);
        known = machine.commands();
    }
    static node_options options(bool auth)
    {
        node_options served;
        served.auth = auth;
        return served;
    }
    /// Some commands are there to keep others from being answered.
    void calm()
    {
        machine.faults.clear();
        machine.requests = {};
    }

    proof::virtual_world world;
    node machine;
    node_service behind;
    std::vector<const command*> known;
};

/// Talks until the input is used up, the server closes, or it wants to wait.
void talk(server& to, bytes input, std::size_t piece)
{
    client_facts who;
    conversation talk{to.world, to.behind, who};
    listening_stream stream;
    for (int steps = 0; steps < 2'000; ++steps) {
        switch (talk.advance(stream)) {
        case need::bytes: {
            if (input.empty())
                return;
            const auto room = talk.unread();
            REQUIRE(!room.empty() && room.size() <= core::mongo::max_message_size + 65'536);
            const std::size_t count = std::min({piece, room.size(), input.size()});
            std::memcpy(room.data(), input.data(), count);
            talk.received(count);
            input = input.subspan(count);
            break;
        }
        case need::writable:
            break;
        case need::news:
        case need::time:
            talk.woken(runtime::wait_end::timed_out);
            break;
        case need::later:
        case need::nothing:
            return;
        }
    }
}

/// Lengths are rarely right by chance, so the same bytes are also tried as a message, and as the
/// fields of a command that exists.
std::vector<std::uint8_t> as_message(bytes input, std::int32_t code)
{
    std::vector<std::uint8_t> whole(16 + input.size());
    std::memcpy(whole.data() + 16, input.data(), input.size());
    const auto length = static_cast<std::int32_t>(whole.size());
    std::memcpy(whole.data(), &length, sizeof length);
    std::memcpy(whole.data() + 12, &code, sizeof code);
    return whole;
}

bson::byte_buffer as_command(const server& to, bytes input, std::size_t which, bool named)
{
    const command& chosen = *to.known[which % to.known.size()];
    bson::byte_buffer out;
    core::mongo::message_builder message{out, request_id{1}};
    if (named)
        message.command().add(chosen.name, "c");  // a collection, most often
    else
        message.command().add(chosen.name, 1);
    message.command().add("$db", chosen.admin_only || !named ? "admin" : "db");
    // A document around whatever it is: the elements are the fuzzer's business.
    std::vector<std::uint8_t> document(input.size() + 5);
    const auto length = static_cast<std::int32_t>(document.size());
    std::memcpy(document.data(), &length, sizeof length);
    std::memcpy(document.data() + 4, input.data(), input.size());
    message.command().merge(bson::view::trusted(document.data()));
    (void)message.finish();
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 2)
        return 0;
    // Now and then new ones, so that what they have learned does not matter for long.
    static std::unique_ptr<server> servers[2];
    static std::size_t served = 0;
    const bool auth = size % 4 == 0;
    if (served++ % 2'000 == 0) {
        servers[0] = std::make_unique<server>(false);
        servers[1] = std::make_unique<server>(true);
    }
    server& one = *servers[auth ? 1 : 0];
    const std::size_t piece = std::size_t{1} + data[0];
    const bytes input{data + 2, size - 2};
    talk(one, input, piece);
    constexpr std::int32_t codes[] = {2013, 2012, 2004};
    talk(one, as_message(input, codes[data[1] % 3]), piece * 16);
    const bson::byte_buffer command = as_command(one, input, data[1], data[0] % 2 == 0);
    talk(one, command.bytes(), 4096);
    one.calm();

    bson::byte_buffer out;
    core::mongo::message_builder ping{out, request_id{1}};
    ping.command().add("hello", 1).add("$db", "admin");
    const auto message = ping.finish();
    client_facts who;
    conversation other{one.world, one.behind, who};
    listening_stream stream;
    REQUIRE(other.advance(stream) == need::bytes);
    std::memcpy(other.unread().data(), message->data(), message->size());
    other.received(message->size());
    while (other.advance(stream) == need::room) {}
    REQUIRE(stream.written > 100);
    return 0;
}
