#include "lab/mongo/aggregate/compute.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/node.hpp"

#include <utility>

namespace holdfast::lab::staging {

namespace {

void write_path(bson::builder& out, bson::view from, std::span<const std::string> path,
                const bson::element& set_to)
{
    bool found = false;
    const auto write = [&](const bson::element& before) {
        if (path.size() == 1) {
            if (set_to)
                out.copy(path[0], set_to);
            return;
        }
        const bool is_document = before.type() == bson::type::document;
        if (!is_document && !set_to) {
            if (before)
                out.copy(before);
            return;
        }
        auto inner = out.document(path[0]);
        write_path(inner, is_document ? before.as_document() : bson::view{}, path.subspan(1),
                   set_to);
    };
    for (const bson::element& e : from) {
        if (e.malformed())
            break;
        if (e.key() != path[0])
            out.copy(e);
        else if (!found)
            write(e);
        found = found || e.key() == path[0];
    }
    if (!found)
        write({});
}

}  // namespace

result<void> check_document(bson::view made)
{
    if (made.size() > computing::max_value_size)
        return refuse(server_code::bson_object_too_large,
                      "BSONObj size: " + std::to_string(made.size()) +
                          " is invalid. Size must be between 0 and 16793600(16MB)");
    if (!computing::is_shallow(made, computing::max_result_depth))
        return refuse(server_code::overflow,
                      "a pipeline made a document that is nested too deeply");
    return {};
}

bson::document with_path(bson::view document, std::span<const std::string> path,
                         const bson::element& set_to)
{
    bson::byte_buffer bytes;
    {
        bson::builder out{bytes};
        write_path(out, document, path, set_to);
    }
    return bson::document::adopt(std::move(bytes));
}

bson::element plain_path(bson::view document, std::span<const std::string> path)
{
    bson::element found;
    for (std::size_t i = 0; i < path.size(); ++i) {
        found = document.find(path[i]);
        if (i + 1 == path.size())
            break;
        if (found.type() != bson::type::document)
            return {};
        document = found.as_document();
    }
    return found;
}

}  // namespace holdfast::lab::staging
