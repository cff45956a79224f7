#include "lab/mongo/query/sort_pattern.hpp"

#include "lab/mongo/document/compare.hpp"
#include "lab/mongo/document/number.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/document/shell_text.hpp"
#include "lab/mongo/query/field_path.hpp"
#include "lab/mongo/query/walk.hpp"

#include <utility>

namespace holdfast::lab {

namespace {

using bson::type;

constexpr std::size_t most_parts = 32;
constexpr int deepest = 200;

/// An empty array sorts as undefined, before null.
constexpr std::uint8_t undefined_bytes[] = {7, 0, 0, 0, static_cast<std::uint8_t>(type::undefined),
                                            0, 0};

bson::element undefined_element()
{
    return *bson::view::trusted(undefined_bytes).begin();
}

/// The least or the greatest of the values at a path.
class extreme {
public:
    extreme(bool greatest, const collation* by) : by_{by}, greatest_{greatest} {}

    void document(bson::view in, std::string_view path, int depth)
    {
        for (;;) {
            const std::size_t dot = path.find('.');
            const bson::element found = in.find(path.substr(0, dot));
            if (dot == path.npos)
                return last(found);
            path.remove_prefix(dot + 1);
            if (found.type() == type::array)
                return array(found.as_array(), path, depth + 1);
            if (found.type() != type::document)
                return take({});
            in = found.as_document();
        }
    }

    value best() const { return best_ ? value{best_} : value::of(bson::null{}); }

private:
    void take(const bson::element& one)
    {
        const bool better = !any_ || (greatest_ ? compare(one, best_, by_) > 0
                                                : compare(one, best_, by_) < 0);
        any_ = true;
        if (better)
            best_ = one;
    }

    void last(const bson::element& found)
    {
        if (found.type() != type::array)
            return take(found);
        if (found.as_array().empty())
            return take(undefined_element());
        for (const bson::element& e : found.as_array())
            take(e);
    }

    void array(bson::array_view elements, std::string_view path, int depth)
    {
        const std::size_t dot = path.find('.');
        if (const auto wanted = filter::array_position(path.substr(0, dot)))
            return picked(elements[*wanted],
                          dot == path.npos ? std::string_view{} : path.substr(dot + 1),
                          dot == path.npos, depth);
        if (elements.empty())
            return take({});
        for (const bson::element& e : elements) {
            if (e.type() == type::document && depth < deepest)
                document(e.as_document(), path, depth + 1);
            else
                take({});
        }
    }

    void picked(const bson::element& e, std::string_view rest, bool is_last, int depth)
    {
        if (is_last)
            return last(e);
        if (e.type() == type::document && depth < deepest)
            return document(e.as_document(), rest, depth + 1);
        if (e.type() == type::array && depth < deepest)
            return array(e.as_array(), rest, depth + 1);
        take({});
    }

    const collation* by_;
    bool greatest_;
    bool any_ = false;
    bson::element best_ = {};
};

result<bool> read_direction(const bson::element& e)
{
    if (e.type() == type::document && e.as_document().find("$meta"))
        return refuse(server_code::bad_value, "sorting by $meta is not supported here");
    if (e.type() == type::document)
        return refuse(17312, "$meta is the only expression supported by $sort right now");
    if (!is_number(e.type()))
        return refuse(15974, "Illegal key in $sort specification: " + shell_text_of(e));
    const auto direction = whole_number(e);
    if (direction != 1 && direction != -1)
        return refuse(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)");
    return direction == -1;
}

}  // namespace

result<sort_pattern> sort_pattern::compile(bson::view spec, const std::optional<collation>& by)
{
    sort_pattern made;
    made.collation_ = by;
    for (const bson::element& e : spec) {
        if (e.malformed())
            return refuse(22, "the sort is no valid BSON");
        const auto descending = read_direction(e);
        if (!descending)
            return descending.error();
        if (e.key() == "$natural") {
            if (!(++spec.begin() == spec.end()))
                return refuse(server_code::bad_value, "Cannot include '$natural' in compound sort");
            return made;
        }
        if (auto checked = filter::check_path(e.key()); !checked)
            return std::move(checked).error();
        made.parts_.push_back({std::string{e.key()}, *descending});
        if (made.parts_.size() > most_parts)
            return refuse(13103, "too many compound keys");
    }
    return made;
}

std::vector<value> sort_pattern::key_of(bson::view document) const
{
    std::vector<value> key;
    key.reserve(parts_.size());
    if (parts_.size() == 1 && parts_.front().path == "_id") {
        // No document that is stored has an array there; what $group makes is compared as a whole.
        const bson::element id = document.find("_id");
        key.push_back(id ? value{id} : value::of(bson::null{}));
        return key;
    }
    for (const part& one : parts_) {
        extreme found{one.descending, collation_ ? &*collation_ : nullptr};
        found.document(document, one.path, 0);
        key.push_back(found.best());
    }
    return key;
}

std::weak_ordering sort_pattern::compare(const std::vector<value>& a,
                                         const std::vector<value>& b) const
{
    const collation* const by = collation_ ? &*collation_ : nullptr;
    for (std::size_t i = 0; i < parts_.size() && i < a.size() && i < b.size(); ++i) {
        const auto order = lab::compare(a[i].get(), b[i].get(), by);
        if (order != 0)
            return parts_[i].descending ? 0 <=> order : order;
    }
    return std::weak_ordering::equivalent;
}

}  // namespace holdfast::lab
