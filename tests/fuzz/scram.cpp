// The server's messages of a login. Only a server that knows the password may be accepted, and no
// step may follow a failed one.
#include "core/sasl/scram.hpp"

#include "core/mongo/handshake/connection_description.hpp"
#include "core/mongo/handshake/login.hpp"
#include "holdfast/bson/document.hpp"
#include "require.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace {

using namespace holdfast;
using namespace holdfast::core::mongo;
using namespace holdfast::core::sasl;

constexpr std::string_view nonce = "fyko+d2lbbFgONRv9qkxdawL";
constexpr std::string_view server_first =
    "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096";
constexpr std::string_view signature = "rmF9pqV8S7suAoZWja4dJRkFsKQ=";

std::vector<scram_keys> known_keys()
{
    auto exchange =
        scram_exchange::start(scram_hash::sha_1, "user", secret{"pencil"}, nonce).value();
    REQUIRE(exchange.answer(server_first).has_value());
    return {exchange.keys()};
}

/// With keys at hand a right first message costs nothing, and a wrong one fails before any work.
/// One that names another salt or count takes milliseconds and shows little: most of
/// those are skipped.
bool is_slow(std::string_view first)
{
    const std::size_t salt = first.find(",s=");
    const std::size_t count = first.find(",i=");
    return salt != first.npos && count != first.npos &&
           first.substr(salt) != server_first.substr(server_first.find(",s=")) &&
           (first.size() % 64 != 0 ||
            (first.substr(count) != ",i=4096" && !first.substr(count).starts_with(",i=4096,")));
}

void check_exchange(std::string_view first, std::string_view last)
{
    static const std::vector<scram_keys> keys = known_keys();
    if (is_slow(first))
        return;
    auto exchange =
        scram_exchange::start(scram_hash::sha_1, "user", secret{"pencil"}, nonce, keys).value();
    const auto answer = exchange.answer(first);
    if (!answer)
        return;
    REQUIRE(answer->starts_with("c=biws,r=" + std::string{nonce}));
    REQUIRE(exchange.keys().iterations >= min_scram_iterations);
    if (exchange.check(last))
        REQUIRE(last.find(signature) != last.npos || first != server_first);
}

void check_final_message(std::string_view last)
{
    static const scram_exchange answered = [] {
        auto exchange =
            scram_exchange::start(scram_hash::sha_1, "user", secret{"pencil"}, nonce).value();
        REQUIRE(exchange.answer(server_first).has_value());
        return exchange;
    }();
    const std::string right = "v=" + std::string{signature};
    const bool accepted = answered.check(last).has_value();
    REQUIRE(accepted == (last == right || last.starts_with(right + ",")) || last.size() > 4096);
}

/// The same in BSON: any reply, at any of the three steps.
void check_login(std::span<const std::uint8_t> bytes)
{
    const auto reply = bson::view::parse(bytes);
    if (!reply)
        return;
    static_cast<void>(parse_hello_reply(*reply).has_value());
    for (const auto mechanism :
         {login_mechanism::scram_sha_256, login_mechanism::plain, login_mechanism::x509}) {
        auto login = start_login({mechanism, "user", "pencil"}, nonce).value();
        const auto step = step_speculative(login.state, *reply);
        if (mechanism == login_mechanism::scram_sha_256 && step)
            REQUIRE(!std::holds_alternative<logged_in>(*step));  // never accepted without a proof
        if (!step || std::holds_alternative<logged_in>(*step))
            REQUIRE(!step_login(login.state, *reply));
        if (!step)
            REQUIRE(step.error().explain().find("pencil") == std::string::npos);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const std::size_t line = std::min(text.find('\n'), size);
    const std::string_view first = text.substr(0, line);
    const std::string_view last = text.substr(std::min(line + 1, size));
    check_exchange(first, last);
    check_exchange(std::string{server_first.substr(0, 26)} + std::string{first}, last);
    check_final_message(text);
    check_login({data, size});
    return 0;
}
