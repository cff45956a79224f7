#include "lab/mongo/peer/peer.hpp"

#include "core/mongo/error/errc.hpp"
#include "core/mongo/wire/message_builder.hpp"
#include "runtime/stream.hpp"

#include <utility>
#include <variant>

namespace holdfast::lab::mongo {

namespace {

using core::mongo::frame;
using core::mongo::message_builder;
using core::mongo::message_flags;

bson::document hello_of(const std::string& cluster_key)
{
    bson::byte_buffer bytes;
    bson::builder hello{bytes};
    hello.add("isMaster", 1);  // every version knows it
    {
        auto client = hello.document("client");
        {
            auto driver = client.document("driver");
            driver.add("name", "holdfast lab").add("version", "1");
        }
        auto system = client.document("os");
        system.add("type", "unknown");
    }
    {
        auto internal = hello.document("internalClient");
        internal.add("minWireVersion", 0).add("maxWireVersion", 27);
        if (!cluster_key.empty())
            internal.add("key", cluster_key);
    }
    hello.add("$db", "admin");
    (void)hello.finish();
    return bson::document::adopt(std::move(bytes));
}

class peer_on_stream final : public peer {
public:
    explicit peer_on_stream(runtime::stream_ptr over) noexcept : stream_{std::move(over)} {}

    runtime::awaitable<result<bson::view>> ask(bson::view command, time_point until) override
    {
        request_.clear();
        message_builder out{request_, next_id()};
        out.command().merge(command);
        return exchange(out.finish(), true, until);
    }

    runtime::awaitable<result<bson::view>> forward(const core::mongo::message& message,
                                                   bson::view body, time_point until) override
    {
        request_.clear();
        message_flags flags;
        flags.more_to_come = message.flags.more_to_come;
        message_builder out{request_, next_id(), flags};
        out.command().merge(body);
        for (const core::mongo::message_sequence part : message.sequences) {
            auto copy = out.sequence(part.identifier);
            for (const bson::view document : part)
                copy.add(document);
        }
        return exchange(out.finish(), !flags.more_to_come, until);
    }

    bool broken() const noexcept override { return broken_; }
    void cancel() noexcept override
    {
        broken_ = true;
        stream_->cancel();
    }

private:
    request_id next_id() noexcept { return request_id{++requests_}; }

    error broke(error why) noexcept
    {
        broken_ = true;
        return why;
    }
    error broke(error_code why)
    {
        return broke(error{why, "the connection to " + stream_->peer() + " broke"});
    }

    /// The bytes are those of request_.
    runtime::awaitable<result<bson::view>> exchange(result<std::span<const std::uint8_t>> written,
                                                    bool answered, time_point until)
    {
        if (!written)
            co_return std::move(written).error();
        if (broken_)
            co_return broke(make_error_code(std::errc::not_connected));
        stream_->expires_at(until);
        const error_code unsent = co_await runtime::write_all(*stream_, *written);
        if (unsent)
            co_return broke(unsent);
        if (!answered)
            co_return bson::view{};
        for (;;) {
            auto next = reader_.next();
            if (!next)
                co_return broke(std::move(next).error());
            if (const frame* whole = std::get_if<frame>(&*next))
                co_return reply_in(*whole);
            const runtime::io_result got = co_await stream_->read_some(reader_.writable());
            if (got.why)
                co_return broke(got.why);
            reader_.received(got.bytes);
        }
    }

    result<bson::view> reply_in(const frame& whole)
    {
        auto reply = core::mongo::parse_message(whole.bytes);
        if (!reply)
            return broke(std::move(reply).error());
        if (reply->header.response_to.value() != requests_)
            return broke(error{core::mongo::errc::malformed_message,
                               "a reply to something that was not asked"});
        return reply->body;
    }

    runtime::stream_ptr stream_;
    core::mongo::frame_reader reader_;
    bson::byte_buffer request_;
    std::int32_t requests_ = 0;
    bool broken_ = false;
};

}  // namespace

runtime::awaitable<result<std::unique_ptr<peer>>> peer::connect(runtime::world& in,
                                                                runtime::destination to,
                                                                runtime::tls_ptr tls,
                                                                time_point until,
                                                                std::string cluster_key)
{
    const std::string host = to.host;
    auto connected = co_await in.connect(std::move(to), until);
    if (!connected)
        co_return std::move(connected).error();
    runtime::stream_ptr stream = *std::move(connected);
    stream->expires_at(until);
    if (tls) {
        auto secured = co_await tls->connect(std::move(stream), host);
        if (!secured)
            co_return std::move(secured).error();
        stream = *std::move(secured);
    }
    std::unique_ptr<peer> made = std::make_unique<peer_on_stream>(std::move(stream));
    const bson::document hello = hello_of(cluster_key);
    const auto hello_reply = co_await made->ask(hello, until);
    if (!hello_reply)
        co_return hello_reply.error();
    if (!said_ok(*hello_reply))
        co_return error{core::mongo::errc::hello_failed, "the other member refused the hello"};
    co_return result<std::unique_ptr<peer>>{std::move(made)};
}

bool said_ok(bson::view reply)
{
    const auto ok = reply.find("ok").get<double>();
    return ok && *ok == 1;
}

}  // namespace holdfast::lab::mongo
