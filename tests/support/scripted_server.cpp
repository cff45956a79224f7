#include "support/scripted_server.hpp"

#include "core/mongo/wire/compression.hpp"
#include "core/mongo/wire/frame_reader.hpp"
#include "core/mongo/wire/message.hpp"
#include "core/mongo/wire/message_builder.hpp"
#include "holdfast/bson/builder.hpp"
#include "runtime/wait.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace holdfast::proof {
namespace {

using core::mongo::frame;
using core::mongo::frame_reader;
using core::mongo::op_code;
using core::mongo::wire_compressor;

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
    return bson::doc("ok", 1.0);
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
    core::mongo::start_header(out, request_id{1}, to, op_code::reply);
    std::uint8_t* head = out.grow(20);
    std::memset(head, 0, 20);
    head[16] = 1;  // one document
    std::memcpy(out.grow(reply.size()), reply.data(), reply.size());
    (void)core::mongo::patch_length(out, 0, core::mongo::max_message_size);
}

void write_reply(bson::byte_buffer& out, request_id id, request_id to, bson::view reply,
                 bool more_to_come)
{
    core::mongo::message_flags flags;
    flags.more_to_come = more_to_come;
    core::mongo::message_builder message{out, id, flags, to};
    for (const bson::element& field : reply)
        message.command().add(field.key(), field);
    (void)message.finish();
}

/// A message without its wrapping. `with` says what it was wrapped in.
std::span<const std::uint8_t> unpacked(const frame& request, bson::byte_buffer& space,
                                       wire_compressor& with)
{
    if (request.header.code != op_code::compressed)
        return request.bytes;
    with = static_cast<wire_compressor>(request.bytes[core::mongo::header_size + 8]);
    const auto plain = core::mongo::decompress_message(request.bytes, space);
    return plain ? *plain : std::span<const std::uint8_t>{};
}

}  // namespace

struct scripted_server::script {
    /// A request as it is to be answered.
    struct request {
        scripted_command command;
        request_id id;
        wire_compressor packing = wire_compressor::noop;
    };
    struct visitor {
        runtime::stream* over;
        bool waits_for_news = false;
    };

    std::map<std::string, full_answer> answers = {};
    std::function<welcome(std::size_t)> welcomes = [](std::size_t) { return welcome::serve; };
    std::vector<std::string> received = {};
    std::vector<scripted_command> commands = {};
    std::vector<time_point> arrivals = {};
    std::map<std::size_t, bson::document> hellos = {};
    std::map<std::size_t, visitor> visitors = {};
    std::int32_t last_reply = 0;
    runtime::listener_ptr listener = {};
    runtime::world* in = nullptr;

    std::optional<request> understand(const frame& from, std::size_t connection)
    {
        request seen{.command = {.connection = connection}, .id = from.header.request};
        bson::byte_buffer space;
        const auto bytes = unpacked(from, space, seen.packing);
        scripted_command& command = seen.command;
        command.when = in->steady_now();
        command.bytes = from.bytes.size();
        command.compressed = seen.packing != wire_compressor::noop;
        command.legacy = from.header.code == op_code::query;
        if (command.legacy) {
            command.body = bson::document{command_of_query(bytes)};
        } else {
            const auto message = core::mongo::parse_message(bytes);
            if (!message)
                return std::nullopt;
            command.flags = message->flags;
            command.body = bson::document{message->body};
        }
        command.name = (*command.body.begin()).key();
        if (is_hello(command.name))
            hellos.try_emplace(connection, command.body);
        received.push_back(command.name);
        commands.push_back(command);
        return seen;
    }

    bson::byte_buffer reply_bytes(const request& to, bson::view reply, request_id response_to,
                                  bool more_to_come = false)
    {
        bson::byte_buffer out;
        if (to.command.legacy)
            write_legacy_reply(out, to.id, reply);
        else
            write_reply(out, request_id{++last_reply}, response_to, reply, more_to_come);
        if (to.packing == wire_compressor::noop)
            return out;
        bson::byte_buffer packed;
        (void)core::mongo::compress_message(out.bytes(), {.with = to.packing}, packed);
        return packed;
    }

    static runtime::awaitable<void> pause(runtime::world& in, duration length)
    {
        if (length > duration::zero())
            co_await runtime::sleep_until(in, in.steady_now() + length);
    }

    /// False if the connection is to be closed.
    static runtime::awaitable<bool> give(std::shared_ptr<script> self, runtime::stream& with,
                                         const request& to)
    {
        const auto known = self->answers.find(to.command.name);
        if (known == self->answers.end())
            co_return false;
        const scripted_reply reply = known->second(to.command);
        co_await pause(*self->in, reply.delay);
        if (reply.body.empty() || to.command.flags.more_to_come)
            co_return !reply.closes;
        const auto out = self->reply_bytes(to, reply.body.view(), to.id);
        const auto bytes = out.bytes().first(
            std::min(reply.only_bytes.value_or(out.bytes().size()), out.bytes().size()));
        const error_code why = co_await runtime::write_all(with, bytes);
        co_return !why && !reply.closes && !reply.only_bytes;
    }

    static bool waits_for_news(const scripted_command& what)
    {
        return is_hello(what.name) && what.body["topologyVersion"] && what.body["maxAwaitTimeMS"];
    }

    /// Waits for news, or until it is time to say that there are none. False if the client has gone
    /// or has something else to say.
    static runtime::awaitable<bool> news(std::shared_ptr<script> self, runtime::stream& with,
                                         frame_reader& reader, const scripted_command& asked)
    {
        const auto wait = std::chrono::milliseconds{
            asked.body.get<std::int64_t>("maxAwaitTimeMS").value()};
        visitor& me = self->visitors.at(asked.connection);
        me.waits_for_news = true;
        with.expires_at(self->in->steady_now() + wait);
        const runtime::io_result got = co_await with.read_some(reader.writable());
        with.expires_at(runtime::never);
        me.waits_for_news = false;
        if (!got.why)
            reader.received(got.bytes);
        co_return got.why == boost::system::errc::timed_out;
    }

    static runtime::awaitable<bool> push_hello(std::shared_ptr<script> self, runtime::stream& with,
                                               frame_reader& reader, request to)
    {
        bson::document known{to.command.body["topologyVersion"].as_document()};
        request_id response_to = to.id;
        for (;;) {
            scripted_reply reply = self->answers.at(to.command.name)(to.command);
            const bson::element version = reply.body["topologyVersion"];
            const bool same = version.type() == bson::type::document &&
                              version.as_document() == known.view();
            if (same) {
                const bool more = co_await news(self, with, reader, to.command);
                if (!more)
                    co_return true;
                reply = self->answers.at(to.command.name)(to.command);
            }
            co_await pause(*self->in, reply.delay);
            if (reply.body.empty())
                co_return !reply.closes;
            const bson::element now = reply.body["topologyVersion"];
            const bool goes_on = to.command.flags.exhaust_allowed &&
                                 now.type() == bson::type::document;
            if (goes_on)
                known = bson::document{now.as_document()};
            const auto out = self->reply_bytes(to, reply.body.view(), response_to, goes_on);
            response_to = request_id{self->last_reply};
            const error_code why = co_await runtime::write_all(with, out.bytes());
            if (why || !goes_on)
                co_return !why && !reply.closes;
        }
    }

    static runtime::awaitable<void> talk(std::shared_ptr<script> self, runtime::stream_ptr with,
                                         std::size_t number)
    {
        frame_reader reader;
        for (;;) {
            auto next = reader.next();
            if (!next)
                co_return;
            if (const frame* whole = std::get_if<frame>(&*next)) {
                const auto seen = self->understand(*whole, number);
                if (!seen)
                    co_return;
                bool go_on = false;
                if (waits_for_news(seen->command))
                    go_on = co_await push_hello(self, *with, reader, *seen);
                else
                    go_on = co_await give(self, *with, *seen);
                if (!go_on)
                    co_return;
                continue;
            }
            const runtime::io_result got = co_await with->read_some(reader.writable());
            if (got.why)
                co_return;
            reader.received(got.bytes);
        }
    }

    static runtime::awaitable<void> receive(std::shared_ptr<script> self, runtime::stream_ptr with,
                                            std::size_t number)
    {
        const welcome reception = self->welcomes(number);
        if (reception == welcome::close)
            co_return;
        self->visitors.emplace(number, visitor{with.get()});
        if (reception == welcome::ignore) {
            std::uint8_t nowhere[256];
            runtime::io_result got;
            while (!got.why)
                got = co_await with->read_some(nowhere);
        } else {
            co_await talk(self, std::move(with), number);
        }
        self->visitors.erase(number);
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
    on_command(std::move(command), [what = std::move(what)](const scripted_command& asked) {
        scripted_reply reply{.body = what(asked.body.view())};
        reply.closes = reply.body.empty();
        return reply;
    });
}

void scripted_server::on_command(std::string command, full_answer what)
{
    script_->answers[std::move(command)] = std::move(what);
}

void scripted_server::on_hello(const full_answer& what)
{
    for (const char* const name : {"hello", "isMaster", "ismaster"})
        on_command(name, what);
}

void scripted_server::welcomes(std::function<welcome(std::size_t)> by_connection)
{
    script_->welcomes = std::move(by_connection);
}

runtime::awaitable<void> scripted_server::serve(runtime::world& in, runtime::destination where)
{
    const auto self = script_;
    self->in = &in;
    auto listening = in.listen(std::move(where));
    if (!listening)
        co_return;
    self->listener = *std::move(listening);
    for (;;) {
        auto accepted = co_await self->listener->accept();
        if (!accepted)
            break;
        self->arrivals.push_back(in.steady_now());
        auto visit = script::receive(self, *std::move(accepted), self->arrivals.size());
        boost::asio::co_spawn(in.executor(), std::move(visit), boost::asio::detached);
    }
    self->listener.reset();
}

void scripted_server::stop_listening()
{
    if (script_->listener)
        script_->listener->cancel();
}

void scripted_server::drop_connections()
{
    for (const auto& [number, one] : script_->visitors)
        one.over->cancel();
}

void scripted_server::drop_connection(std::size_t number)
{
    if (const auto at = script_->visitors.find(number); at != script_->visitors.end())
        at->second.over->cancel();
}

void scripted_server::announce()
{
    for (const auto& [number, one] : script_->visitors) {
        if (one.waits_for_news)
            one.over->expires_at(script_->in->steady_now());
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
    return script_->arrivals.size();
}

std::size_t scripted_server::open_connections() const noexcept
{
    return script_->visitors.size();
}

const std::vector<scripted_command>& scripted_server::commands() const noexcept
{
    return script_->commands;
}

std::vector<scripted_command> scripted_server::commands(std::string_view name) const
{
    std::vector<scripted_command> found;
    std::ranges::copy_if(script_->commands, std::back_inserter(found),
                         [name](const scripted_command& one) { return one.name == name; });
    return found;
}

bson::document scripted_server::first_hello(std::size_t connection) const
{
    const auto at = script_->hellos.find(connection);
    return at == script_->hellos.end() ? bson::document{} : at->second;
}

const std::vector<time_point>& scripted_server::arrivals() const noexcept
{
    return script_->arrivals;
}

}  // namespace holdfast::proof
