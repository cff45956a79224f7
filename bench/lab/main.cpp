// Sends a fixed number of requests to a MongoDB server over some connections, each with one request
// under way, and checks the replies. The requests are built before; only what must differ from one
// to the next is patched. No code of the client is in here: it measures a server.
#include <CLI/CLI.hpp>
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

using bytes = std::vector<std::uint8_t>;

struct options {
    std::string what = "ping";
    std::uint16_t port = 27017;
    int connections = 16;
    std::int64_t count = 10000;
    std::int64_t first = 0;  // the number of the first document
    bool in_set = false;  // what a driver adds for a replica set
    std::string collection = "c";
};

[[noreturn]] void give_up(std::string_view why)
{
    std::fprintf(stderr, "bench_lab: %.*s\n", static_cast<int>(why.size()), why.data());
    std::exit(1);
}

template <class T>
void put(bytes& to, T value)
{
    std::array<std::uint8_t, sizeof(T)> raw;
    std::memcpy(raw.data(), &value, sizeof(T));
    to.insert(to.end(), raw.begin(), raw.end());
}

template <class T>
void patch(bytes& in, std::size_t at, T value)
{
    std::memcpy(in.data() + at, &value, sizeof(T));
}

void put_key(bytes& to, std::uint8_t type, std::string_view key)
{
    to.push_back(type);
    to.insert(to.end(), key.begin(), key.end());
    to.push_back(0);
}

void put_text(bytes& to, std::string_view key, std::string_view text)
{
    put_key(to, 2, key);
    put(to, static_cast<std::int32_t>(text.size() + 1));
    to.insert(to.end(), text.begin(), text.end());
    to.push_back(0);
}

std::size_t begin(bytes& to)
{
    put(to, std::int32_t{0});
    return to.size() - 4;
}

void end(bytes& to, std::size_t from)
{
    to.push_back(0);
    patch(to, from, static_cast<std::int32_t>(to.size() - from));
}

/// One message, and where its parts are that change.
struct request {
    bytes all;
    std::size_t txn_number_at = 0;
    std::size_t id_at = 0;
};

void put_session(request& to, std::uint32_t number, bool in_set)
{
    put_key(to.all, 3, "lsid");
    const std::size_t lsid = begin(to.all);
    put_key(to.all, 5, "id");
    put(to.all, std::int32_t{16});
    to.all.push_back(4);
    std::array<std::uint8_t, 16> id{};
    const auto process = static_cast<std::uint32_t>(getpid());
    std::memcpy(id.data(), &process, 4);
    std::memcpy(id.data() + 4, &number, 4);
    to.all.insert(to.all.end(), id.begin(), id.end());
    end(to.all, lsid);
    if (!in_set)
        return;
    put_key(to.all, 3, "$clusterTime");
    const std::size_t time = begin(to.all);
    put_key(to.all, 0x11, "clusterTime");
    put(to.all, std::uint64_t{1} << 32 | 1);
    put_key(to.all, 3, "signature");
    const std::size_t signature = begin(to.all);
    put_key(to.all, 5, "hash");
    put(to.all, std::int32_t{20});
    to.all.insert(to.all.end(), 21, 0);
    put_key(to.all, 0x12, "keyId");
    put(to.all, std::int64_t{0});
    end(to.all, signature);
    end(to.all, time);
}

/// {_id: ObjectId, text: ...} in a section of its own, as drivers send it.
void put_documents(request& to)
{
    to.all.push_back(1);
    const std::size_t section = begin(to.all);
    constexpr std::string_view name{"documents\0", 10};
    to.all.insert(to.all.end(), name.begin(), name.end());
    const std::size_t document = begin(to.all);
    put_key(to.all, 7, "_id");
    to.id_at = to.all.size();
    to.all.insert(to.all.end(), 12, 0x65);
    put_text(to.all, "text", "the quick brown fox jumps over the lazy dog");
    end(to.all, document);
    patch(to.all, section, static_cast<std::int32_t>(to.all.size() - section));
}

request build(const options& wanted, std::uint32_t number)
{
    request made;
    bytes& all = made.all;
    begin(all);
    put(all, static_cast<std::int32_t>(number + 1));
    put(all, std::int32_t{0});
    put(all, std::int32_t{2013});
    put(all, std::int32_t{0});  // flags
    all.push_back(0);
    const std::size_t body = begin(all);
    const bool insert = wanted.what == "insert";
    if (insert) {
        put_text(all, "insert", wanted.collection);
        put_key(all, 8, "ordered");
        all.push_back(1);
    } else {
        put_key(all, 0x10, "ping");
        put(all, std::int32_t{1});
    }
    put_session(made, number, wanted.in_set);
    if (insert && wanted.in_set) {
        put_key(all, 0x12, "txnNumber");
        made.txn_number_at = all.size();
        put(all, std::int64_t{0});
    }
    put_text(all, "$db", "test");
    end(all, body);
    if (insert)
        put_documents(made);
    patch(all, 0, static_cast<std::int32_t>(all.size()));
    return made;
}

int connect_to(std::uint16_t port)
{
    const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (made < 0 || connect(made, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0)
        give_up("no connection");
    const int one = 1;
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return made;
}

struct connection {
    int socket = -1;
    request next = {};
    bytes got = {};
};

class generator {
public:
    explicit generator(const options& wanted) : wanted_{wanted}, poll_{epoll_create1(EPOLL_CLOEXEC)}
    {
        all_.resize(static_cast<std::size_t>(wanted.connections));
        for (std::uint32_t i = 0; i < all_.size(); ++i) {
            all_[i].socket = connect_to(wanted.port);
            all_[i].next = build(wanted, i);
            epoll_event what{};
            what.events = EPOLLIN;
            what.data.u32 = i;
            epoll_ctl(poll_, EPOLL_CTL_ADD, all_[i].socket, &what);
        }
    }

    void run()
    {
        for (connection& one : all_)
            send_next(one);
        std::array<epoll_event, 64> events;
        while (answered_ < wanted_.count) {
            const int ready = epoll_wait(poll_, events.data(), int{events.size()}, 10'000);
            if (ready == 0)
                give_up("no reply within 10 s");
            for (int i = 0; i < ready; ++i)
                receive(all_[events[static_cast<std::size_t>(i)].data.u32]);
        }
    }

private:
    void send_next(connection& on)
    {
        if (sent_ == wanted_.count)
            return;
        const std::int64_t number = wanted_.first + sent_++;
        if (on.next.id_at != 0)
            patch(on.next.all, on.next.id_at, number);
        if (on.next.txn_number_at != 0)
            patch(on.next.all, on.next.txn_number_at, number + 1);
        const auto size = static_cast<ssize_t>(on.next.all.size());
        if (send(on.socket, on.next.all.data(), on.next.all.size(), MSG_NOSIGNAL) != size)
            give_up("a request could not be sent");
    }

    void receive(connection& on)
    {
        std::array<std::uint8_t, 4096> room;
        const ssize_t count = recv(on.socket, room.data(), room.size(), 0);
        if (count <= 0)
            give_up("the server closed a connection");
        on.got.insert(on.got.end(), room.data(), room.data() + count);
        std::int32_t size = 0;
        if (on.got.size() >= 4)
            std::memcpy(&size, on.got.data(), 4);
        if (size == 0 || on.got.size() < static_cast<std::size_t>(size))
            return;
        check(on.got);
        on.got.clear();
        ++answered_;
        send_next(on);
    }

    void check(const bytes& reply) const
    {
        const std::string_view text{reinterpret_cast<const char*>(reply.data()), reply.size()};
        constexpr std::string_view ok{"\1ok\0\0\0\0\0\0\0\xf0\x3f", 12};
        constexpr std::string_view one{"\x10n\0\1\0\0\0", 7};
        if (text.find(ok) == text.npos || (wanted_.what == "insert" && text.find(one) == text.npos))
            give_up("the server refused: " + std::string{text});
    }

    const options& wanted_;
    int poll_;
    std::vector<connection> all_;
    std::int64_t sent_ = 0;
    std::int64_t answered_ = 0;
};

}  // namespace

int main(int argc, char** argv)
{
    options wanted;
    CLI::App program{"Sends requests to a MongoDB server on this machine."};
    program.add_option("what", wanted.what)->check(CLI::IsMember({"ping", "insert"}));
    program.add_option("--port", wanted.port)->required();
    program.add_option("--connections", wanted.connections)->check(CLI::Range(1, 1000));
    program.add_option("--count", wanted.count);
    program.add_option("--first", wanted.first, "Number of the first document");
    program.add_option("--collection", wanted.collection);
    program.add_flag("--set", wanted.in_set, "Send what a driver sends to a replica set");
    CLI11_PARSE(program, argc, argv);
    generator all{wanted};
    const auto began = std::chrono::steady_clock::now();
    all.run();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    std::printf("%.6f\n", took.count());
}
