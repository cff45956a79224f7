#include "support/scripted_server.hpp"

#include "core/mongo/wire/frame_reader.hpp"
#include "core/mongo/wire/message.hpp"
#include "core/mongo/wire/message_builder.hpp"
#include "holdfast/bson/builder.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace holdfast::proof {
namespace {

using core::mongo::frame;
using core::mongo::frame_reader;

bson::document hello_reply(bson::view)
{
    bson::byte_buffer out;
    bson::builder reply{out};
    reply.add("helloOk", true)
        .add("isWritablePrimary", true)
        .add("maxBsonObjectSize", 16 * 1024 * 1024)
        .add("maxMessageSizeBytes", 48'000'000)
        .add("maxWriteBatchSize", 100'000)
        .add("minWireVersion", 0)
        .add("maxWireVersion", 27)
        .add("ok", 1.0);
    return bson::document{reply.finish().value()};
}

bson::document ok_reply(bson::view)
{
    bson::byte_buffer out;
    bson::builder reply{out};
    reply.add("ok", 1.0);
    return bson::document{reply.finish().value()};
}

/// The command in a legacy query: behind flags, the collection's name and two numbers.
bson::view command_of_query(std::span<const std::uint8_t> bytes)
{
    std::size_t at = core::mongo::header_size + 4;
    at += std::strlen(reinterpret_cast<const char*>(bytes.data() + at)) + 1 + 8;
    return bson::view::trusted(bytes.data() + at);
}

void write_legacy_reply(bson::byte_buffer& out, request_id to, bson::view reply)
{
    core::mongo::start_header(out, request_id{1}, to, core::mongo::op_code::reply);
    std::uint8_t* head = out.grow(20);
    std::memset(head, 0, 20);
    head[16] = 1;  // one document
    std::memcpy(out.grow(reply.size()), reply.data(), reply.size());
    (void)core::mongo::patch_length(out, 0, core::mongo::max_message_size);
}

void write_reply(bson::byte_buffer& out, request_id to, bson::view reply)
{
    core::mongo::message_builder message{out, request_id{1}, {}, to};
    for (const bson::element& field : reply)
        message.command().add(field.key(), field);
    (void)message.finish();
}

}  // namespace

struct scripted_server::script {
    std::map<std::string, answer> answers;
    std::vector<std::string> received;
    std::size_t connections = 0;
    runtime::listener_ptr listener;

    /// The bytes to send back; none if the connection is to be closed.
    std::optional<bson::byte_buffer> reply_to(const frame& request)
    {
        const bool legacy = request.header.code == core::mongo::op_code::query;
        const auto message = legacy ? std::optional<result<core::mongo::message>>{}
                                    : core::mongo::parse_message(request.bytes);
        if (message && !*message)
            return std::nullopt;
        const bson::view command = legacy ? command_of_query(request.bytes) : (*message)->body;
        received.emplace_back((*command.begin()).key());
        const auto known = answers.find(received.back());
        if (known == answers.end())
            return std::nullopt;
        const bson::document reply = known->second(command);
        if (reply.view().empty())
            return std::nullopt;
        bson::byte_buffer out;
        if (legacy)
            write_legacy_reply(out, request.header.request, reply.view());
        else
            write_reply(out, request.header.request, reply.view());
        return out;
    }

    static runtime::awaitable<void> talk(std::shared_ptr<script> self, runtime::stream_ptr with)
    {
        frame_reader reader;
        for (;;) {
            auto next = reader.next();
            if (!next)
                co_return;
            if (const frame* request = std::get_if<frame>(&*next)) {
                const auto reply = self->reply_to(*request);
                if (!reply)
                    co_return;
                const error_code why = co_await runtime::write_all(*with, reply->bytes());
                if (why)
                    co_return;
                continue;
            }
            const runtime::io_result got = co_await with->read_some(reader.writable());
            if (got.why)
                co_return;
            reader.received(got.bytes);
        }
    }
};

scripted_server::scripted_server() : script_{std::make_shared<script>()}
{
    on("hello", hello_reply);
    on("isMaster", hello_reply);
    on("ismaster", hello_reply);
    on("ping", ok_reply);
}

void scripted_server::on(std::string command, answer what)
{
    script_->answers[std::move(command)] = std::move(what);
}

runtime::awaitable<void> scripted_server::serve(runtime::world& in, runtime::destination where)
{
    const auto self = script_;
    auto listening = in.listen(std::move(where));
    if (!listening)
        co_return;
    self->listener = *std::move(listening);
    for (;;) {
        auto accepted = co_await self->listener->accept();
        if (!accepted)
            co_return;
        ++self->connections;
        boost::asio::co_spawn(in.executor(), script::talk(self, *std::move(accepted)),
                              boost::asio::detached);
    }
}

const std::vector<std::string>& scripted_server::received() const noexcept
{
    return script_->received;
}

std::size_t scripted_server::count(std::string_view command) const noexcept
{
    return static_cast<std::size_t>(std::ranges::count(script_->received, command));
}

std::size_t scripted_server::connections() const noexcept
{
    return script_->connections;
}

}  // namespace holdfast::proof
