// Any replies to a bootstrap, in any order. It comes to an end or goes on, no login succeeds
// without the server's proof, and no error shows the password.
#include "core/couchbase/handshake/bootstrap.hpp"
#include "core/couchbase/wire/frame_reader.hpp"
#include "core/couchbase/wire/frame_writer.hpp"
#include "require.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace {

using namespace holdfast;
using namespace holdfast::core::couchbase;

constexpr std::string_view nonce = "fyko+d2lbbFgONRv9qkxdawL";
constexpr std::string_view server_first =
    "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096";
constexpr std::string_view proof = "v=rmF9pqV8S7suAoZWja4dJRkFsKQ=";

/// With keys at hand a login computes nothing.
std::vector<core::sasl::scram_keys> known_keys()
{
    using namespace core::sasl;
    auto exchange =
        scram_exchange::start(scram_hash::sha_1, "user", secret{"pencil"}, nonce).value();
    REQUIRE(exchange.answer(server_first).has_value());
    return {exchange.keys()};
}

bootstrap_options any_options(std::uint8_t bits)
{
    static const auto keys = known_keys();
    bootstrap_options options;
    options.is_tls = (bits & 1) != 0;
    if ((bits & 2) != 0)
        options.credential = password_credential{"user", secret{"pencil"}, keys};
    if ((bits & 4) != 0)
        options.mechanism = sasl_mechanism::scram_sha1;
    if ((bits & 8) != 0)
        options.bucket = "travel";
    options.fetch_config = (bits & 16) == 0;
    return options;
}

/// Takes bytes off the front as decisions, and then as text up to a line's end.
class script {
public:
    explicit script(std::span<const std::uint8_t> bytes) : left_{bytes} {}
    bool empty() const { return left_.empty(); }
    std::uint8_t byte()
    {
        if (left_.empty())
            return 0;
        const std::uint8_t first = left_.front();
        left_ = left_.subspan(1);
        return first;
    }
    std::string_view line()
    {
        const std::string_view text = as_text(left_);
        const std::size_t end = std::min(text.find('\n'), text.size());
        left_ = left_.subspan(std::min(end + 1, left_.size()));
        return text.substr(0, end);
    }

private:
    std::span<const std::uint8_t> left_;
};

class conversation {
public:
    explicit conversation(script from)
        : script_{from},
          options_{any_options(script_.byte())},
          machine_{options_, std::string{nonce}},
          action_{machine_.start(out_)}
    {
        while (!script_.empty() && !is_over()) {
            learn_opaques();
            reply();
        }
        check_end();
    }

private:
    bool is_over() const
    {
        return std::holds_alternative<bootstrapped>(action_) ||
               std::holds_alternative<bootstrap_failure>(action_);
    }

    /// So that replies meet what was asked more often than by chance.
    void learn_opaques()
    {
        for (auto rest = out_.bytes(); !rest.empty();) {
            const auto next = next_frame(rest).value();
            const auto& sent = std::get<frame>(next);
            REQUIRE(sent.header.opaque < bootstrap::first_operation);
            last_ = sent.header.opaque;
            opcodes_.push_back(sent.header.opcode);
            rest = rest.subspan(sent.bytes.size());
        }
        out_.clear();
    }

    void reply()
    {
        const std::uint32_t opaque = script_.byte() % (last_ + 2);
        const bool known = opaque >= 1 && opaque <= opcodes_.size();
        const auto opcode = known ? opcodes_[opaque - 1] : kv_opcode::get;
        constexpr kv_status statuses[] = {kv_status::success,    kv_status::auth_continue,
                                          kv_status::auth_error, kv_status::unknown_command,
                                          kv_status::no_access,  kv_status::not_found};
        const std::uint8_t which = script_.byte();
        const auto datatype = static_cast<kv_datatype>(which >= 0xe0 ? which & 0x0f : 0);
        std::string_view value = script_.line();
        if (value == "f")
            value = server_first;
        else if (value == "v")
            value = proof;
        shown_proof_ = shown_proof_ || value.find(proof) != value.npos;
        bson::byte_buffer bytes;
        REQUIRE(write_reply(bytes, {.opcode = opcode,
                                    .opaque = opaque,
                                    .status = statuses[which % std::size(statuses)],
                                    .datatype = datatype,
                                    .value = as_octets(value)})
                    .has_value());
        const auto whole = next_frame(bytes.bytes()).value();
        action_ = machine_.resume(std::get<frame>(whole), out_);
        // Other salts and counts take milliseconds, and show little.
        if (std::holds_alternative<compute_keys>(action_))
            action_ = machine_.compute(out_);
    }

    void check_end()
    {
        if (const auto* const failed = std::get_if<bootstrap_failure>(&action_)) {
            REQUIRE(out_.empty() && !failed->why.message().empty());
            REQUIRE(failed->why.explain().find("pencil") == std::string::npos);
        }
        const auto* const done = std::get_if<bootstrapped>(&action_);
        if (!done || !done->mechanism || *done->mechanism == sasl_mechanism::plain)
            return;
        REQUIRE(std::holds_alternative<password_credential>(options_.credential));
        REQUIRE(shown_proof_);  // never logged in without it
    }

    script script_;
    bootstrap_options options_;
    bson::byte_buffer out_;
    bootstrap machine_;
    bootstrap_action action_;
    std::vector<kv_opcode> opcodes_;
    std::uint32_t last_ = 0;
    bool shown_proof_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    conversation{script{{data, size}}};
    return 0;
}
