#include "support/scripted_http.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace holdfast::proof {

std::string http_seen::header(std::string_view name) const
{
    const std::size_t at = head.find("\r\n" + std::string{name} + ": ");
    if (at == std::string::npos)
        return {};
    const std::size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
}

std::string http_reply_text(std::string_view body, int status, std::string_view more_headers)
{
    return "HTTP/1.1 " + std::to_string(status) + " Scripted\r\n" + std::string{more_headers} +
           "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + std::string{body};
}

std::string http_chunked_text(std::string_view body, std::size_t chunk, int status)
{
    std::string text = "HTTP/1.1 " + std::to_string(status) +
                       " Scripted\r\nContent-Type: application/json\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n";
    constexpr char digits[] = "0123456789abcdef";
    while (!body.empty()) {
        const std::string_view one = body.substr(0, chunk);
        std::string size;
        for (std::size_t left = one.size(); left != 0; left >>= 4)
            size.insert(size.begin(), digits[left & 0xf]);
        text.append(size).append("\r\n").append(one).append("\r\n");
        body.remove_prefix(one.size());
    }
    return text + "0\r\n\r\n";
}

struct scripted_http::shared {
    explicit shared(script what) : answers{std::move(what)} {}

    std::optional<http_seen> take_request(std::string& unread) const;

    mutable std::mutex mutex;
    script answers;
    std::vector<http_seen> seen;
    std::size_t connections = 0;
    std::size_t sent = 0;
    std::map<std::size_t, runtime::stream*> open;
    runtime::listener* listener = nullptr;
    bool stopped = false;
    runtime::tls_ptr tls;
};

/// The first request among the bytes, which goes from them.
std::optional<http_seen> scripted_http::shared::take_request(std::string& unread) const
{
    const std::size_t end = unread.find("\r\n\r\n");
    if (end == std::string::npos)
        return std::nullopt;
    http_seen made;
    made.head = unread.substr(0, end + 2);
    const std::string length = made.header("Content-Length");
    const std::size_t size = length.empty() ? 0 : std::stoul(length);
    if (unread.size() < end + 4 + size)
        return std::nullopt;
    made.body = unread.substr(end + 4, size);
    unread.erase(0, end + 4 + size);
    const std::size_t space = made.head.find(' ');
    made.method = made.head.substr(0, space);
    made.target = made.head.substr(space + 1, made.head.find(' ', space + 1) - space - 1);
    return made;
}

namespace {

std::span<const std::uint8_t> octets_of(std::string_view text)
{
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// False if the connection is over.
runtime::awaitable<bool> send_answer(std::shared_ptr<scripted_http::shared> with,
                                     runtime::world& in, runtime::stream& over, http_answer what)
{
    if (what.delay != duration::zero()) {
        const auto end = co_await runtime::sleep_until(in, in.steady_now() + what.delay);
        if (end == runtime::wait_end::cancelled)
            co_return false;
    }
    std::string_view rest = what.bytes;
    while (!rest.empty()) {
        const std::string_view now = rest.substr(0, what.piece == 0 ? rest.size() : what.piece);
        const error_code why = co_await runtime::write_all(over, octets_of(now));
        if (why)
            co_return false;
        {
            const std::scoped_lock lock{with->mutex};
            with->sent += now.size();
        }
        rest.remove_prefix(now.size());
        if (rest.empty() || what.pause == duration::zero())
            continue;
        const auto end = co_await runtime::sleep_until(in, in.steady_now() + what.pause);
        if (end == runtime::wait_end::cancelled)
            co_return false;
    }
    co_return !what.closes;
}

/// One connection.
runtime::awaitable<void> serve_requests(std::shared_ptr<scripted_http::shared> with,
                                        runtime::world& in, runtime::stream_ptr over_parameter,
                                        std::size_t number)
{
    auto over = std::move(over_parameter);
    if (with->tls) {
        {
            const std::scoped_lock lock{with->mutex};
            with->open.erase(number);  // the stream is another one from now on
        }
        auto wrapped = co_await with->tls->accept(std::move(over));
        if (!wrapped)
            co_return;
        over = *std::move(wrapped);
        const std::scoped_lock lock{with->mutex};
        with->open.emplace(number, over.get());
    }
    std::string unread;
    std::vector<std::uint8_t> buffer(64 * 1024);
    for (bool goes_on = true; goes_on;) {
        auto request = with->take_request(unread);
        if (!request) {
            const runtime::io_result got = co_await over->read_some(buffer);
            unread.append(reinterpret_cast<const char*>(buffer.data()), got.bytes);
            goes_on = !got.why;
            continue;
        }
        request->connection = number;
        request->when = in.steady_now();
        scripted_http::script script;
        {
            const std::scoped_lock lock{with->mutex};
            with->seen.push_back(*request);
            script = with->answers;
        }
        auto what = script(*request);
        goes_on = co_await send_answer(with, in, *over, std::move(what));
    }
    const std::scoped_lock lock{with->mutex};
    with->open.erase(number);
}

}  // namespace

scripted_http::scripted_http(script what) : shared_{std::make_shared<shared>(std::move(what))} {}

runtime::awaitable<void> scripted_http::serve(runtime::world& in, runtime::listener& at)
{
    const auto with = shared_;
    runtime::background tasks{in};
    {
        const std::scoped_lock lock{with->mutex};
        with->listener = &at;
        if (with->stopped)
            at.cancel();
    }
    for (;;) {
        auto taken = co_await at.accept();
        if (!taken)
            break;
        std::size_t number = 0;
        {
            const std::scoped_lock lock{with->mutex};
            number = ++with->connections;
            with->open.emplace(number, taken->get());
        }
        tasks.start(serve_requests(with, in, *std::move(taken), number));
    }
    {
        const std::scoped_lock lock{with->mutex};
        with->listener = nullptr;
    }
    tasks.stop();
    co_await tasks.ended();
}

runtime::awaitable<void> scripted_http::serve_at(runtime::world& in, runtime::destination where)
{
    auto listening = in.listen(std::move(where));
    if (!listening)
        co_return;
    const runtime::listener_ptr door = *std::move(listening);
    co_await serve(in, *door);
}

void scripted_http::stop()
{
    const std::scoped_lock lock{shared_->mutex};
    shared_->stopped = true;
    if (shared_->listener != nullptr)
        shared_->listener->cancel();
}

void scripted_http::drop_connections()
{
    const std::scoped_lock lock{shared_->mutex};
    for (const auto& [number, one] : shared_->open)
        one->cancel();
}

void scripted_http::on(script what)
{
    const std::scoped_lock lock{shared_->mutex};
    shared_->answers = std::move(what);
}

void scripted_http::use_tls(runtime::tls_ptr with)
{
    const std::scoped_lock lock{shared_->mutex};
    shared_->tls = std::move(with);
}

std::vector<http_seen> scripted_http::seen() const
{
    const std::scoped_lock lock{shared_->mutex};
    return shared_->seen;
}

std::size_t scripted_http::connections() const
{
    const std::scoped_lock lock{shared_->mutex};
    return shared_->connections;
}

std::size_t scripted_http::open_connections() const
{
    const std::scoped_lock lock{shared_->mutex};
    return shared_->open.size();
}

std::size_t scripted_http::sent() const
{
    const std::scoped_lock lock{shared_->mutex};
    return shared_->sent;
}

}  // namespace holdfast::proof
