#include "lab/mongo/storage/index_keys.hpp"

#include "lab/mongo/document/server_code.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace holdfast::lab {
namespace {

constexpr int cannot_index_parallel_arrays = 171;
constexpr std::size_t max_keys = 100'000;

/// How far the walk along one path has come.
struct walked {
    bson::element at = {};  // missing: there is nothing
    std::string_view rest = {};
    bool found_array = false;  // `at` is an array that has still to be looked into
    bool empty_array = false;  // it was one, without elements: kept as undefined
};

std::string_view step(std::string_view& rest)
{
    const std::size_t dot = rest.find('.');
    const std::string_view name = rest.substr(0, dot);
    rest = dot == rest.npos ? std::string_view{} : rest.substr(dot + 1);
    return name;
}

bool is_position(std::string_view name)
{
    return !name.empty() && name.size() < 8 &&
           std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

/// Goes on from `from` until the path or the documents end, or there is an array.
walked walk(bson::element from, std::string_view rest)
{
    while (true) {
        if (!from)
            return {};
        if (from.type() == bson::type::array) {
            std::string_view after = rest;
            const std::string_view name = rest.empty() ? rest : step(after);
            // "a.0": by position, if there is such a one.
            const bson::element chosen = is_position(name) ? from.as_document().find(name)
                                                           : bson::element{};
            if (!chosen)
                return {from, rest, true};
            from = chosen;
            rest = after;
            continue;
        }
        if (rest.empty())
            return {from, rest};
        if (from.type() != bson::type::document)
            return {};
        const std::string_view name = step(rest);
        from = from.as_document().find(name);
    }
}

class extractor {
public:
    explicit extractor(index_keys& out) : out_{out} {}

    result<void> run(const std::vector<walked>& paths)
    {
        const walked* array = nullptr;
        for (const walked& each : paths) {
            if (!each.found_array)
                continue;
            if (array != nullptr && array->at.data() != each.at.data())
                return refuse(cannot_index_parallel_arrays, "cannot index parallel arrays [" +
                                                                std::string{each.at.key()} + "] [" +
                                                                std::string{array->at.key()} + "]");
            array = &each;
        }
        if (array == nullptr)
            return emit(paths);
        return expand(paths, array->at);
    }

private:
    result<void> expand(const std::vector<walked>& paths, const bson::element& array)
    {
        bool any = false;
        for (const bson::element& e : array.as_array()) {
            any = true;
            if (auto fine = run(inside(paths, e)); !fine)
                return fine;
        }
        if (any)
            return {};
        std::vector<walked> none = paths;
        for (walked& each : none) {
            if (each.found_array)
                each = each.rest.empty() ? walked{each.at, {}, false, true} : walked{};
        }
        return emit(none);
    }

    /// The paths that lead to the array go on in its element `e`; an array in an array is a value.
    static std::vector<walked> inside(const std::vector<walked>& paths, const bson::element& e)
    {
        std::vector<walked> deeper = paths;
        for (walked& each : deeper) {
            if (!each.found_array)
                continue;
            if (each.rest.empty())
                each = {e, {}};
            else if (e.type() == bson::type::document)
                each = walk(e, each.rest);
            else
                each = {};
        }
        return deeper;
    }

    result<void> emit(const std::vector<walked>& paths)
    {
        if (out_.keys.size() >= max_keys)
            return refuse(server_code::cannot_create_index, "too many keys for one document");
        bson::byte_buffer bytes;
        bson::builder key{bytes};
        bool missing = true;
        for (const walked& each : paths) {
            missing = missing && !each.at;
            if (each.empty_array)
                key.put("", bson::undefined{});
            else if (!each.at)
                key.put("", bson::null{});
            else
                key.copy("", each.at);
        }
        if (auto done = key.finish(); !done)
            return std::move(done).error();
        out_.keys.push_back(bson::document::adopt(std::move(bytes)));
        out_.all_missing = out_.all_missing && missing;
        return {};
    }

    index_keys& out_;
};

}  // namespace

result<index_keys> extract_keys(bson::view from, const std::vector<std::string>& paths)
{
    std::vector<walked> starts;
    starts.reserve(paths.size());
    for (const std::string& path : paths) {
        std::string_view rest = path;
        const std::string_view name = step(rest);
        starts.push_back(walk(from.find(name), rest));
    }
    index_keys found;
    found.all_missing = true;
    if (auto fine = extractor{found}.run(starts); !fine)
        return std::move(fine).error();
    return found;
}

}  // namespace holdfast::lab
