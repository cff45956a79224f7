#include "holdfast/bson/errc.hpp"

namespace holdfast::bson {

namespace {

std::string_view message_of(errc e)
{
    switch (e) {
    case errc::malformed: return "malformed BSON";
    case errc::invalid_utf8: return "string is not valid UTF-8";
    case errc::too_deep: return "nested too deeply";
    case errc::too_large: return "too large";
    case errc::missing_field: return "missing field";
    case errc::unknown_field: return "unknown field";
    case errc::wrong_type: return "wrong type";
    case errc::out_of_range: return "number out of range";
    case errc::invalid_key: return "key with a zero byte inside";
    case errc::invalid_json: return "invalid Extended JSON";
    case errc::invalid_value: return "invalid value";
    }
    return "unknown BSON error";
}

class bson_category final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "bson"; }
    std::string message(int value) const override
    {
        return std::string{message_of(static_cast<errc>(value))};
    }
};

/// Only a message that says its path first, as in "b: expected int32", already names it.
bool begins_with_path(std::string_view message, std::string_view path)
{
    return !path.empty() && message.starts_with(path) &&
           message.substr(path.size()).starts_with(':');
}

}  // namespace

const boost::system::error_category& category() noexcept
{
    static const bson_category instance;
    return instance;
}

error inside(error e, std::string_view field)
{
    const std::string_view inner = e.context("path");
    std::string path{field};
    if (!inner.empty())
        path.append(".").append(inner);

    std::string_view rest = e.message();
    std::string message = path;
    if (begins_with_path(rest, inner))
        message.append(rest.substr(inner.size()));
    else
        message.append(": ").append(rest);

    error outer{e.code(), std::move(message)};
    for (const std::string& label : e.labels())
        outer = std::move(outer).with_label(label);
    for (const context_entry& entry : e.context())
        outer = std::move(outer).with_context(entry.name, entry.value);
    const auto history = e.history();
    outer = std::move(outer).with_history({history.begin(), history.end()});
    return std::move(outer).with_context("path", std::move(path));
}

}  // namespace holdfast::bson
