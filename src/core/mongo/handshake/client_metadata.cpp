#include "core/mongo/handshake/client_metadata.hpp"

#include "core/mongo/error/errc.hpp"
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/validate.hpp"

#include <algorithm>
#include <string_view>

namespace holdfast::core::mongo {

namespace {

constexpr char separator = '|';

void add_if_known(bson::builder& out, std::string_view key, std::string_view value)
{
    if (!value.empty())
        out.add(key, value);
}

/// Our own text, then that of each library which has one.
std::string joined(std::string text, const std::vector<wrapping_library>& libraries,
                   std::string wrapping_library::* part)
{
    for (const wrapping_library& library : libraries) {
        if (text.empty())
            text = library.*part;
        else if (!(library.*part).empty())
            text.append(1, separator).append(library.*part);
    }
    return text;
}

bool has_container(const client_environment& where)
{
    return !where.container_runtime.empty() || !where.container_orchestrator.empty();
}

void write_environment(bson::builder& client, const client_environment& where)
{
    if (where == client_environment{})
        return;
    auto env = client.document("env");
    add_if_known(env, "name", where.name);
    if (where.timeout_sec)
        env.add("timeout_sec", *where.timeout_sec);
    if (where.memory_mb)
        env.add("memory_mb", *where.memory_mb);
    add_if_known(env, "region", where.region);
    if (has_container(where)) {
        auto container = env.document("container");
        add_if_known(container, "runtime", where.container_runtime);
        add_if_known(container, "orchestrator", where.container_orchestrator);
    }
}

bson::document write(const client_metadata& metadata)
{
    bson::byte_buffer bytes;
    {
        bson::builder client{bytes};
        if (!metadata.application.empty())
            client.document("application").add("name", metadata.application);
        const auto& libraries = metadata.wrapped_by;
        client.document("driver")
            .add("name", joined(metadata.driver_name, libraries, &wrapping_library::name))
            .add("version", joined(metadata.driver_version, libraries, &wrapping_library::version));
        {
            auto os = client.document("os");
            os.add("type", metadata.os_type.empty() ? "unknown" : metadata.os_type.c_str());
            add_if_known(os, "name", metadata.os_name);
            add_if_known(os, "architecture", metadata.os_architecture);
            add_if_known(os, "version", metadata.os_version);
        }
        add_if_known(client, "platform", metadata.platform);
        write_environment(client, metadata.environment);
    }
    return bson::document::adopt(std::move(bytes));
}

/// The first `size` bytes of a text, or less where that would cut a character in two.
std::string cut(const std::string& text, std::size_t size)
{
    const auto continues = [&](std::size_t at) {
        return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
    };
    while (size > 0 && size < text.size() && continues(size))
        --size;
    return text.substr(0, size);
}

void cut_platform(client_metadata& metadata, std::size_t excess)
{
    const std::size_t size = metadata.platform.size();
    metadata.platform = cut(metadata.platform, size - std::min(size, excess));
}

}  // namespace

result<void> append(client_metadata& metadata, wrapping_library library)
{
    if (library.name.empty())
        return error{errc::invalid_metadata, "a wrapping library must have a name"};
    for (const std::string& text : {library.name, library.version, library.platform}) {
        if (text.find(separator) != text.npos || text.find('\0') != text.npos ||
            !bson::is_utf8(text))
            return error{errc::invalid_metadata,
                         "the metadata of a wrapping library must be UTF-8 and must not contain "
                         "'|' or a zero byte"};
    }
    if (std::ranges::find(metadata.wrapped_by, library) == metadata.wrapped_by.end())
        metadata.wrapped_by.push_back(std::move(library));
    return {};
}

result<bson::document> client_document(const client_metadata& metadata)
{
    if (metadata.application.size() > max_application_name_size)
        return error{errc::invalid_metadata,
                     "the application name has " + std::to_string(metadata.application.size()) +
                         " bytes, the limit is " + std::to_string(max_application_name_size)};
    if (!bson::is_utf8(metadata.application))
        return error{errc::invalid_metadata, "the application name is not UTF-8"};

    client_metadata shortened = metadata;
    shortened.platform = joined(metadata.platform, metadata.wrapped_by,
                                &wrapping_library::platform);
    bson::document client = write(shortened);
    const auto fits = [&] { return client.size() <= max_metadata_size; };
    const auto without = [&](auto&& leave_out) {
        if (fits())
            return;
        leave_out();
        client = write(shortened);
    };
    without([&] { shortened.environment = {.name = shortened.environment.name}; });
    without([&] { shortened.os_name = shortened.os_architecture = shortened.os_version = {}; });
    without([&] { shortened.environment = {}; });
    without([&] { cut_platform(shortened, client.size() - max_metadata_size); });
    while (!fits() && !shortened.wrapped_by.empty())
        without([&] { shortened.wrapped_by.pop_back(); });
    if (!fits())
        return error{errc::invalid_metadata, "the client metadata has " +
                                                 std::to_string(client.size()) +
                                                 " bytes, the limit is 512"};
    return client;
}

}  // namespace holdfast::core::mongo
