#include "shell/mongo/connection/connection_config.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::shell::mongo {
namespace {

using core::mongo::client_settings;

runtime::tls_options tls_options_of(const core::mongo::tls_settings& from)
{
    const bool insecure = from.insecure.value_or(false);
    runtime::tls_options options;
    options.ca_file = from.ca_file;
    options.certificate_key_file = from.certificate_key_file;
    options.certificate_key_password = from.certificate_key_file_password;
    options.verify_peer = !insecure && !from.allow_invalid_certificates.value_or(false);
    options.verify_hostname = !insecure && !from.allow_invalid_hostnames.value_or(false);
    return options;
}

result<std::optional<core::mongo::login_mechanism>> mechanism_of(
    const std::optional<core::mongo::credential>& who)
{
    std::optional<core::mongo::login_mechanism> spoken;
    if (!who || !who->mechanism)
        return spoken;
    spoken = core::mongo::login_mechanism_named(*who->mechanism);
    if (!spoken)
        return error{core::mongo::errc::invalid_option,
                     "authMechanism " + *who->mechanism +
                         " is not supported; use SCRAM-SHA-256, SCRAM-SHA-1, MONGODB-X509 or PLAIN"}
            .with_context("option", "authMechanism");
    return spoken;
}

}  // namespace

bson::document self_description::get() const
{
    const std::scoped_lock lock{mutex_};
    return written_;
}

result<void> self_description::append(core::mongo::wrapping_library library)
{
    const std::scoped_lock lock{mutex_};
    core::mongo::client_metadata longer = who_;
    if (auto appended = core::mongo::append(longer, std::move(library)); !appended)
        return appended;
    auto written = core::mongo::client_document(longer);
    if (!written)
        return std::move(written).error();
    who_ = std::move(longer);
    written_ = *std::move(written);
    return {};
}

core::mongo::declared_api declared(
    const std::optional<core::mongo::server_api_settings>& api) noexcept
{
    core::mongo::declared_api said;
    if (api) {
        said.version = api->version;
        said.strict = api->strict;
        said.deprecation_errors = api->deprecation_errors;
    }
    return said;
}

result<connection_config> make_connection_config(runtime::world& in,
                                                 const client_settings& settings,
                                                 const core::mongo::client_metadata& who)
{
    connection_config config;
    auto client = core::mongo::client_document(who);
    if (!client)
        return std::move(client).error();
    config.client = std::make_shared<self_description>(who, *std::move(client));
    config.requests = std::make_shared<std::atomic<std::int32_t>>(0);
    for (const std::string& name : settings.compressors) {
        if (const auto known = core::mongo::compressor_named(name))
            config.compressors.push_back(*known);
    }
    config.zlib_level = settings.zlib_level;

    auto mechanism = mechanism_of(settings.credential);
    if (!mechanism)
        return std::move(mechanism).error();
    config.mechanism = *mechanism;
    config.credential = settings.credential;
    config.keys = std::make_shared<known_keys>();
    config.scram_max_iterations = settings.scram_max_iterations;

    if (uses_tls(settings)) {
        auto tls = in.tls(tls_options_of(settings.tls));
        if (!tls)
            return std::move(tls).error();
        config.tls = *std::move(tls);
    }
    config.connect_timeout = settings.connect_timeout;
    config.load_balanced = settings.load_balanced;
    config.server_api = settings.server_api;
    if (profile_of(settings).backpressure_as_string)
        config.backpressure = core::mongo::backpressure_flag::version_two;
    config.hello_over_op_msg = profile_of(settings).hello_over_op_msg;
    return config;
}

}  // namespace holdfast::shell::mongo
