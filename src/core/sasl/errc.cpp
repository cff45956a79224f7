#include "core/sasl/errc.hpp"

#include <string>
#include <string_view>

namespace holdfast::core::sasl {

namespace {

std::string_view message_of(errc e)
{
    switch (e) {
    case errc::invalid_credential:
        return "invalid credential";
    case errc::authentication_failed:
        return "authentication failed";
    case errc::untrusted_server:
        return "the server could not be authenticated";
    case errc::crypto_unavailable:
        return "a cryptographic algorithm is unavailable";
    }
    return "unknown SASL error";
}

class sasl_category final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "sasl"; }
    std::string message(int value) const override
    {
        return std::string{message_of(static_cast<errc>(value))};
    }
};

}  // namespace

const boost::system::error_category& category() noexcept
{
    static const sasl_category instance;
    return instance;
}

}  // namespace holdfast::core::sasl
