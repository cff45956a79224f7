#include "truth/couchbase/sealed_tls.hpp"

#include "runtime/errc.hpp"

#include <array>
#include <utility>

namespace holdfast::truth {

using runtime::awaitable;
using runtime::stream_ptr;

namespace {

constexpr std::uint8_t question = 0x16;  // a handshake record begins so

error not_sealed(error_code why)
{
    return error{runtime::errc::tls_failed, "the handshake broke off: " + why.message()};
}

awaitable<error_code> write_byte(runtime::stream& to, std::uint8_t what)
{
    const std::array<std::uint8_t, 1> bytes{what};
    co_return co_await runtime::write_all(to, bytes);
}

awaitable<runtime::io_result> read_byte(runtime::stream& from, std::uint8_t& into)
{
    std::array<std::uint8_t, 1> bytes{};
    const runtime::io_result got = co_await from.read_some(bytes);
    into = bytes[0];
    co_return got;
}

class sealed_tls final : public runtime::tls_layer {
public:
    explicit sealed_tls(certificate shown) : shown_{shown} {}

    awaitable<result<stream_ptr>> connect(stream_ptr over, std::string host) override
    {
        const error_code why = co_await write_byte(*over, question);
        if (why)
            co_return not_sealed(why);
        std::uint8_t shown = 0;
        const runtime::io_result got = co_await read_byte(*over, shown);
        if (got.why)
            co_return not_sealed(got.why);
        if (shown != static_cast<std::uint8_t>(certificate::trusted))
            co_return error{runtime::errc::certificate_rejected,
                            "the certificate of " + host + " is from an unknown issuer"};
        co_return over;
    }

    awaitable<result<stream_ptr>> accept(stream_ptr over) override
    {
        std::uint8_t asked = 0;
        const runtime::io_result got = co_await read_byte(*over, asked);
        if (got.why || asked != question)
            co_return not_sealed(got.why);
        const error_code why = co_await write_byte(*over, static_cast<std::uint8_t>(shown_));
        if (why)
            co_return not_sealed(why);
        co_return over;
    }

private:
    certificate shown_;
};

}  // namespace

runtime::tls_ptr make_sealed_tls(certificate shown)
{
    return std::make_shared<sealed_tls>(shown);
}

}  // namespace holdfast::truth
