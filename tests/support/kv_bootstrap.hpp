#pragma once
#include "core/couchbase/handshake/bootstrap.hpp"
#include "core/couchbase/wire/frame_reader.hpp"
#include "core/couchbase/wire/frame_writer.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::proof {

/// A SCRAM conversation of the user "user" with the password "pencil", as both sides write it.
struct kv_transcript {
    std::string_view nonce = "rOprNGfwEbeRWgbNEkqO";
    std::string_view server_first =
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
    std::string_view server_final;
};

/// RFC 7677; and the same for SHA-512, computed as core/sasl's tests say.
inline constexpr kv_transcript kv_sha256{
    .server_final = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="};
inline constexpr kv_transcript kv_sha512{
    .server_final =
        "v=ZQnYEgWQMFmmsM8aQMF0nDDCy/AgCzkwk8CmMZYcMg0vSVlKDanekLtifDSeVGT4+5ZxXnJq199R"
        "VG2rR7N7Zw=="};

/// A bootstrap and the server that a test plays: what was sent, by opcode, and replies to it.
class kv_bootstrap {
public:
    struct sent {
        core::couchbase::kv_opcode opcode;
        std::uint32_t opaque;
        std::string key, extras, value;
    };

    explicit kv_bootstrap(core::couchbase::bootstrap_options options)
        : machine_{std::move(options), std::string{kv_sha512.nonce}}
    {
        advance([&](bson::byte_buffer& out) { return machine_.start(out); });
    }

    static core::couchbase::bootstrap_options with_password()
    {
        core::couchbase::bootstrap_options options;
        options.agent = "holdfast/test";
        options.connection_name = "1/2";
        options.credential = core::couchbase::password_credential{"user", secret{"pencil"}};
        return options;
    }

    /// The server's answer to the last request of that opcode; keys are computed on the way.
    kv_bootstrap& reply(core::couchbase::kv_opcode opcode, core::couchbase::kv_status status,
                        std::string_view value = {}, core::couchbase::kv_datatype datatype = {})
    {
        return give({.opcode = opcode,
                     .opaque = opaques_[opcode],
                     .status = status,
                     .datatype = datatype,
                     .value = core::couchbase::as_octets(value)});
    }
    kv_bootstrap& ok(core::couchbase::kv_opcode opcode, std::string_view value = {})
    {
        return reply(opcode, core::couchbase::kv_status::success, value);
    }

    kv_bootstrap& give(const core::couchbase::reply_frame& reply)
    {
        bson::byte_buffer bytes;
        core::couchbase::write_reply(bytes, reply).value();
        return give_bytes(bytes.bytes());
    }

    kv_bootstrap& give_bytes(std::span<const std::uint8_t> bytes)
    {
        const auto whole = core::couchbase::next_frame(bytes).value();
        const auto& frame = std::get<core::couchbase::frame>(whole);
        advance([&](bson::byte_buffer& out) { return machine_.resume(frame, out); });
        while (std::holds_alternative<core::couchbase::compute_keys>(action)) {
            ++slices;
            advance([&](bson::byte_buffer& out) { return machine_.compute(out); });
        }
        return *this;
    }

    /// HELLO, error map and list of mechanisms, as a server of today answers.
    kv_bootstrap& usual_start()
    {
        using enum core::couchbase::kv_opcode;
        ok(hello, std::string_view{"\x00\x0b\x00\x12", 4});
        ok(get_error_map, R"({"version":2,"revision":1,"errors":{}})");
        return ok(sasl_list_mechanisms, "SCRAM-SHA512 SCRAM-SHA256 SCRAM-SHA1 PLAIN");
    }

    kv_bootstrap& scram(const kv_transcript& by)
    {
        using namespace core::couchbase;
        reply(kv_opcode::sasl_auth, kv_status::auth_continue, by.server_first);
        return ok(kv_opcode::sasl_step, by.server_final);
    }

    const core::couchbase::bootstrapped& done() const
    {
        return std::get<core::couchbase::bootstrapped>(action);
    }
    const core::couchbase::bootstrap_failure& failure() const
    {
        return std::get<core::couchbase::bootstrap_failure>(action);
    }
    bool has_failed() const
    {
        return std::holds_alternative<core::couchbase::bootstrap_failure>(action);
    }
    /// The opcodes of the last flush.
    std::vector<core::couchbase::kv_opcode> opcodes() const
    {
        std::vector<core::couchbase::kv_opcode> all;
        for (const sent& each : flushed)
            all.push_back(each.opcode);
        return all;
    }

    core::couchbase::bootstrap_action action;
    std::vector<sent> flushed;  // by the last action
    int slices = 0;

private:
    template <class Act>
    void advance(Act&& act)
    {
        bson::byte_buffer out;
        action = std::forward<Act>(act)(out);
        flushed.clear();
        for (auto rest = out.bytes(); !rest.empty();) {
            const auto whole = core::couchbase::next_frame(rest).value();
            const auto& frame = std::get<core::couchbase::frame>(whole);
            const auto text = [](auto part) { return std::string{core::couchbase::as_text(part)}; };
            flushed.push_back({frame.header.opcode, frame.header.opaque, text(frame.key()),
                               text(frame.extras()), text(frame.value())});
            opaques_[frame.header.opcode] = frame.header.opaque;
            rest = rest.subspan(frame.bytes.size());
        }
    }

    core::couchbase::bootstrap machine_;
    std::map<core::couchbase::kv_opcode, std::uint32_t> opaques_;
};

}  // namespace holdfast::proof
