#include "runtime/errc.hpp"

#include <boost/system/errc.hpp>

namespace holdfast::runtime {
namespace {

class runtime_category final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "holdfast.runtime"; }
    std::string message(int value) const override
    {
        switch (static_cast<errc>(value)) {
        case errc::name_not_found:
            return "no such host";
        case errc::name_lookup_failed:
            return "the look-up of a name failed";
        case errc::connect_failed:
            return "cannot connect";
        case errc::connect_timed_out:
            return "connecting took too long";
        case errc::tls_failed:
            return "TLS failed";
        case errc::certificate_rejected:
            return "certificate rejected";
        case errc::invalid_tls_options:
            return "invalid TLS options";
        case errc::listen_failed:
            return "cannot listen";
        case errc::cancelled:
            return "cancelled";
        case errc::not_available:
            return "not available here";
        }
        return "unknown error";
    }

    /// A connection that took too long is late like any other.
    boost::system::error_condition default_error_condition(int value) const noexcept override
    {
        if (static_cast<errc>(value) == errc::connect_timed_out)
            return make_error_condition(boost::system::errc::timed_out);
        return {value, *this};
    }
};

}  // namespace

const boost::system::error_category& category() noexcept
{
    static const runtime_category instance;
    return instance;
}

}  // namespace holdfast::runtime
