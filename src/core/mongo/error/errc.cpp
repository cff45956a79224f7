#include "core/mongo/error/errc.hpp"

#include <string>
#include <string_view>

namespace holdfast::core::mongo {

namespace {

std::string_view message_of(errc e)
{
    switch (e) {
    case errc::malformed_message:
        return "malformed wire message";
    case errc::message_too_large:
        return "message too large";
    case errc::unsupported_message:
        return "unsupported kind of message";
    case errc::checksum_mismatch:
        return "checksum mismatch";
    case errc::compression_failed:
        return "compression failed";
    case errc::hello_failed:
        return "the server refused the handshake";
    case errc::invalid_metadata:
        return "invalid client metadata";
    case errc::invalid_credential:
        return "invalid credential";
    case errc::authentication_failed:
        return "authentication failed";
    case errc::untrusted_server:
        return "the server could not be authenticated";
    case errc::crypto_unavailable:
        return "a cryptographic algorithm is unavailable";
    case errc::invalid_connection_string:
        return "invalid connection string";
    case errc::invalid_option:
        return "invalid option";
    case errc::invalid_address:
        return "invalid address";
    case errc::invalid_dns_answer:
        return "invalid answer of the name server";
    case errc::incompatible_server:
        return "a server is too old or too new";
    case errc::command_failed:
        return "the server refused a command";
    case errc::no_server:
        return "no server can be used";
    case errc::operation_timed_out:
        return "the operation took too long";
    case errc::incomplete_reply:
        return "the server does not say what became of some writes";
    case errc::primary_deposed:
        return "the primary was deposed by a newer one";
    }
    return "unknown MongoDB client error";
}

class mongo_category final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "mongo"; }
    std::string message(int value) const override
    {
        return std::string{message_of(static_cast<errc>(value))};
    }
};

}  // namespace

const boost::system::error_category& category() noexcept
{
    static const mongo_category instance;
    return instance;
}

}  // namespace holdfast::core::mongo
