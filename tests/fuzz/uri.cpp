// Any text as a connection string. It is parsed or refused; what is parsed is valid, can be written
// option by option, and, if it names SRV records, can be resolved.
#include "core/mongo/uri/uri.hpp"

#include "core/mongo/uri/option_table.hpp"
#include "require.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace holdfast::core::mongo;

/// What is worth hiding is long enough not to stand in a message by chance.
constexpr std::size_t shortest_secret = 12;

void require_unsaid(std::string_view secret, const parsed_uri& parsed)
{
    if (secret.size() < shortest_secret)
        return;
    for (const std::string& warning : parsed.warnings)
        REQUIRE(warning.find(secret) == std::string::npos || find_option(secret));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto parsed = parse_uri(text);
    if (!parsed)
        return 0;
    REQUIRE(validate(parsed->settings));
    for (const option& which : all_options())
        for (const std::string& value : written(which, parsed->settings)) {
            client_settings again;
            const bool is_srv = parsed->settings.srv.has_value();
            REQUIRE((which.srv_only && !is_srv) ||
                    take_value(which, again, value).is == reading::status::taken);
        }
    if (const auto& who = parsed->settings.credential; who && who->password)
        require_unsaid(who->password->view(), *parsed);
    if (!parsed->settings.srv)
        return 0;
    const std::size_t end = text.find("TXT");
    const std::string txt{end == text.npos ? "" : text.substr(end + 3)};
    const auto resolved = resolve_srv(*parsed,
                                      {{{"a." + parsed->settings.srv->host, 27017}}, {txt}});
    REQUIRE(!resolved || resolved->settings.seeds.size() == 1);
    return 0;
}
