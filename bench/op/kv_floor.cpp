#include "core/couchbase/wire/big_endian.hpp"
#include "core/couchbase/wire/frame_reader.hpp"
#include "core/couchbase/wire/frame_writer.hpp"
#include "core/sasl/scram.hpp"

#include <CLI/CLI.hpp>
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The floor of key-value operations: after the login the same bytes go through one blocking
/// socket, requests in one send, replies counted by their headers and nothing else.
namespace holdfast::bench {
namespace {

namespace cb = core::couchbase;

struct floor_order {
    std::string operation = "kv_get";
    std::uint16_t port = 0;
    std::uint64_t count = 1000;
    std::uint64_t in_flight = 1;
    std::string user = "Administrator";
    std::string password = "password";
};

[[noreturn]] void give_up(const char* why)
{
    std::fprintf(stderr, "kv_floor: %s\n", why);
    std::exit(1);
}

class bare_connection {
public:
    explicit bare_connection(std::uint16_t port) : socket_{::socket(AF_INET, SOCK_STREAM, 0)}
    {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(port);
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::connect(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0)
            give_up("cannot connect");
        const int on = 1;
        ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    bare_connection(const bare_connection&) = delete;
    bare_connection& operator=(const bare_connection&) = delete;
    ~bare_connection() { ::close(socket_); }

    void send(const std::uint8_t* bytes, std::size_t size) const
    {
        if (::send(socket_, bytes, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size))
            give_up("cannot send");
    }
    std::size_t receive(std::uint8_t* into, std::size_t size) const
    {
        const ssize_t got = ::recv(socket_, into, size, 0);
        if (got <= 0)
            give_up("the server closed the connection");
        return static_cast<std::size_t>(got);
    }

    /// One request and the value of its reply; the statuses of a login are both fine.
    std::string ask(cb::request_frame what)
    {
        bson::byte_buffer out;
        (void)cb::write_request(out, what).value();
        send(out.data(), out.size());
        for (;;) {
            auto next = reader_.next();
            if (!next)
                give_up("the server sent what is no frame");
            if (const auto* const reply = std::get_if<cb::frame>(&*next)) {
                const cb::kv_status status = reply->status();
                if (status != cb::kv_status::success && status != cb::kv_status::auth_continue)
                    give_up("the server refused the login");
                return std::string{cb::as_text(reply->value())};
            }
            const auto to = reader_.writable();
            reader_.received(receive(to.data(), to.size()));
        }
    }

private:
    const int socket_;
    cb::frame_reader reader_;
};

void log_in(bare_connection& on, const floor_order& what)
{
    constexpr cb::kv_feature wanted[] = {cb::kv_feature::tracing, cb::kv_feature::alt_request,
                                         cb::kv_feature::mutation_seqno, cb::kv_feature::json,
                                         cb::kv_feature::collections};
    bson::byte_buffer features;
    cb::write_features(features, wanted);
    cb::request_frame hello;
    hello.opcode = cb::kv_opcode::hello;
    hello.value = features.bytes();
    on.ask(hello);

    auto login = core::sasl::scram_exchange::start(core::sasl::scram_hash::sha_512, what.user,
                                                   secret{what.password}, "NonceOfTheFloor");
    const std::string first = login.value().first_message();
    cb::request_frame step;
    step.opcode = cb::kv_opcode::sasl_auth;
    step.key = "SCRAM-SHA512";
    step.value = cb::as_octets(first);
    const std::string answer = login->answer(on.ask(step)).value();
    step.opcode = cb::kv_opcode::sasl_step;
    step.value = cb::as_octets(answer);
    if (!login->check(on.ask(step)))
        give_up("the server does not know the password");

    cb::request_frame select;
    select.opcode = cb::kv_opcode::select_bucket;
    select.key = "default";
    on.ask(select);
}

bson::byte_buffer request_of(const floor_order& what)
{
    const std::string document(128, 'x');
    constexpr std::uint8_t flags_and_expiry[] = {2, 0, 0, 6, 0, 0, 0, 0};
    cb::request_frame made;
    made.opcode = what.operation == "kv_upsert" ? cb::kv_opcode::upsert : cb::kv_opcode::get;
    made.collection = 0;
    made.key = "airline_000000001";
    if (made.opcode == cb::kv_opcode::upsert) {
        made.extras = flags_and_expiry;
        made.value = cb::as_octets(document);
    }
    bson::byte_buffer bytes;
    (void)cb::write_request(bytes, made).value();
    return bytes;
}

/// The sum of one bit of all opaques, so that replies are looked at.
std::uint64_t exchange(const bare_connection& on, const floor_order& what)
{
    constexpr std::size_t body_offset = 8;
    constexpr std::size_t opaque_offset = 12;
    const bson::byte_buffer request = request_of(what);
    std::vector<std::uint8_t> in(std::size_t{1} << 18);
    std::vector<std::uint8_t> out(request.size() * what.in_flight);
    std::size_t filled = 0;
    std::uint64_t sent = 0;
    std::uint64_t done = 0;
    std::uint64_t sum = 0;
    while (done < what.count) {
        std::size_t size = 0;
        for (; sent < what.count && sent - done < what.in_flight; ++sent) {
            std::memcpy(out.data() + size, request.data(), request.size());
            cb::store_big(out.data() + size + opaque_offset, static_cast<std::uint32_t>(sent));
            size += request.size();
        }
        if (size != 0)
            on.send(out.data(), size);
        filled += on.receive(in.data() + filled, in.size() - filled);
        std::size_t at = 0;
        while (filled - at >= cb::frame_header_size) {
            const std::uint8_t* const reply = in.data() + at;
            const auto whole = cb::frame_header_size +
                               cb::load_big<std::uint32_t>(reply + body_offset);
            if (filled - at < whole)
                break;
            sum += reply[opaque_offset + 3] & 1;
            at += whole;
            ++done;
        }
        std::memmove(in.data(), in.data() + at, filled - at);
        filled -= at;
    }
    return sum;
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv)
{
    using namespace holdfast::bench;
    floor_order what;
    CLI::App app{"Performs exactly N operations through a bare socket and exits."};
    app.add_option("operation", what.operation)
        ->required()
        ->check(CLI::IsMember({"kv_get", "kv_upsert"}));
    app.add_option("--port", what.port)->required();
    app.add_option("--count", what.count)->capture_default_str();
    app.add_option("--concurrency", what.in_flight, "Requests in flight")
        ->check(CLI::Range(1U, 1024U))
        ->capture_default_str();
    app.add_option("--user", what.user)->capture_default_str();
    app.add_option("--password", what.password)->capture_default_str();
    CLI11_PARSE(app, argc, argv);

    bare_connection on{what.port};
    log_in(on, what);
    const auto began = std::chrono::steady_clock::now();
    const std::uint64_t sum = exchange(on, what);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
    std::printf("{\"op\":\"%s\",\"n\":%llu,\"wall\":%.6f,\"checksum\":%llu}\n",
                what.operation.c_str(), static_cast<unsigned long long>(what.count), wall.count(),
                static_cast<unsigned long long>(sum));
    return 0;
}
