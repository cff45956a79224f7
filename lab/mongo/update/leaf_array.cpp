#include "holdfast/bson/array_index.hpp"
#include "lab/mongo/document/compare.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/document/stable_sort.hpp"
#include "lab/mongo/update/id_text.hpp"
#include "lab/mongo/update/rewriter.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

namespace holdfast::lab::updating {
namespace {

using status = result<void>;

struct element_less {
    const collation* by;
    bool operator()(const bson::element& a, const bson::element& b) const
    {
        return compare(a, b, by) < 0;
    }
};

/// Values to be recognised: a few are simply gone through.
class known_values {
public:
    explicit known_values(const collation* by) : by_{by}, many_{element_less{by}} {}

    bool has(const bson::element& e) const
    {
        if (is_many_)
            return many_.contains(e);
        return std::ranges::any_of(few_, [&](const auto& k) { return equal(k, e, by_); });
    }
    void add(const bson::element& e)
    {
        constexpr std::size_t limit = 8;
        if (!is_many_ && few_.size() == limit) {
            many_.insert(few_.begin(), few_.end());
            is_many_ = true;
        }
        if (is_many_)
            many_.insert(e);
        else
            few_.push_back(e);
    }
    void remove(const bson::element& e)
    {
        if (is_many_)
            many_.erase(e);
        else
            std::erase_if(few_, [&](const auto& k) { return equal(k, e, by_); });
    }

private:
    const collation* by_;
    bool is_many_ = false;
    std::vector<bson::element> few_;
    std::set<bson::element, element_less> many_;
};

/// By the parts of $push's $sort. What is no document has no fields.
struct sort_less {
    const std::vector<push_plan::sort_part>& parts;
    const collation* by;

    bool operator()(const bson::element& a, const bson::element& b) const
    {
        for (const auto& part : parts) {
            const auto order = compare(part_of(a, part.path), part_of(b, part.path), by);
            if (order != 0)
                return part.descending ? order > 0 : order < 0;
        }
        return false;
    }
    static bson::element part_of(const bson::element& e, std::string_view path)
    {
        if (path.empty())
            return e;
        return e.type() == bson::type::document ? e.as_document().find_path(path) : bson::element{};
    }
};

result<std::vector<bson::element>> take_elements(const bson::element& array)
{
    std::vector<bson::element> out;
    if (!array)
        return out;
    for (const bson::element& e : array.as_array()) {
        if (e.malformed())
            return malformed_document();
        out.push_back(e);
    }
    return out;
}

void insert_at(std::vector<bson::element>& to, const std::vector<bson::element>& values,
               std::int64_t position)
{
    const auto size = static_cast<std::int64_t>(to.size());
    const std::int64_t from_front = position < 0 ? std::max<std::int64_t>(0, size + position)
                                                 : std::min(position, size);
    to.insert(to.begin() + from_front, values.begin(), values.end());
}

void cut(std::vector<bson::element>& to, std::int64_t slice)
{
    const auto size = static_cast<std::int64_t>(to.size());
    if (slice >= 0)
        to.resize(static_cast<std::size_t>(std::min(slice, size)));
    else if (slice > -size)
        to.erase(to.begin(), to.begin() + (size + slice));
}

void write_array(writer& out, std::string_view key, const std::vector<bson::element>& items)
{
    const std::size_t start = out.open(bson::type::array, key);
    bson::array_index index;
    for (const bson::element& e : items)
        out.copy(index.next(), e);
    out.close(start);
}

}  // namespace

/// The old array as it is, and then the values.
status rewriter::append(const bson::element& old, std::string_view key,
                        const std::vector<bson::element>& values)
{
    const std::size_t start = out_.open(bson::type::array, key);
    bson::array_index index;
    if (old) {
        for (const bson::element& e : old.as_array()) {
            if (e.malformed())
                return malformed_document();
            index.next();
        }
        const auto bytes = old.value_bytes();
        out_.raw(bytes.data() + 4, bytes.size() - 5);
    }
    for (const bson::element& e : values)
        out_.copy(index.next(), e);
    out_.close(start);
    return {};
}

status rewriter::push(const operation& what, const bson::element& old, std::string_view key)
{
    if (old && old.type() != bson::type::array)
        return refuse(server_code::bad_value, "The field '" + std::string{key} +
                                                  "' must be an array but is of type " +
                                                  std::string{type_name(old.type())} +
                                                  " in document {" + id_text(document_) + "}");
    const push_plan& plan = *what.push;
    if (!plan.position && plan.sort.empty() && !plan.slice)
        return append(old, key, plan.values);
    auto items = take_elements(old);
    if (!items)
        return std::move(items).error();
    insert_at(*items, plan.values, plan.position.value_or(INT64_MAX));
    if (!plan.sort.empty())
        sort_stably(*items, sort_less{plan.sort, around_.by});
    if (plan.slice)
        cut(*items, *plan.slice);
    write_array(out_, key, *items);
    return {};
}

status rewriter::add_to_set(const operation& what, const bson::element& old, std::string_view key)
{
    if (old && old.type() != bson::type::array)
        return refuse(server_code::bad_value,
                      "Cannot apply $addToSet to non-array field. Field named '" +
                          std::string{key} + "' has non-array type " +
                          std::string{type_name(old.type())});
    known_values wanted{around_.by};
    std::vector<bson::element> fresh;
    for (const bson::element& e : what.values) {
        if (wanted.has(e))
            continue;
        wanted.add(e);
        fresh.push_back(e);
    }
    if (old) {
        for (const bson::element& e : old.as_array()) {
            if (e.malformed())
                return malformed_document();
            wanted.remove(e);
        }
    }
    std::erase_if(fresh, [&](const bson::element& e) { return !wanted.has(e); });
    return append(old, key, fresh);
}

result<bool> rewriter::is_pulled(const operation& what, const bson::element& e)
{
    if (!what.pull)
        return equal(e, what.operand, around_.by);
    if (what.pull->on_fields) {
        if (e.type() != bson::type::document)
            return false;
        return what.pull->filter.matches(e.as_document());
    }
    scratch_.clear();
    writer wrapped{scratch_};
    const std::size_t start = wrapped.open();
    wrapped.copy("value", e);
    wrapped.close(start);
    return what.pull->filter.matches(bson::view::trusted(scratch_.data()));
}

status rewriter::pull(const operation& what, const bson::element& old)
{
    if (old.type() != bson::type::array)
        return refuse(server_code::bad_value, "Cannot apply $pull to a non-array value");
    known_values pulled{around_.by};
    for (const bson::element& e : what.values)
        pulled.add(e);
    const std::size_t start = out_.open(bson::type::array, old.key());
    bson::array_index index;
    for (const bson::element& e : old.as_array()) {
        if (e.malformed())
            return malformed_document();
        auto gone = what.what == op::pull_all ? result<bool>{pulled.has(e)} : is_pulled(what, e);
        if (!gone)
            return std::move(gone).error();
        if (!*gone)
            out_.copy(index.next(), e);
    }
    out_.close(start);
    return {};
}

status rewriter::pop(const operation& what, const bson::element& old)
{
    if (old.type() != bson::type::array)
        return refuse(server_code::type_mismatch, "Path '" + path_ +
                                                      "' contains an element of non-array type '" +
                                                      std::string{type_name(old.type())} + "'");
    auto items = take_elements(old);
    if (!items)
        return std::move(items).error();
    if (!items->empty())
        items->erase(what.from_front ? items->begin() : items->end() - 1);
    write_array(out_, old.key(), *items);
    return {};
}

}  // namespace holdfast::lab::updating
