#include "lab/mongo/update/rewriter.hpp"

#include "holdfast/bson/array_index.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/update/id_text.hpp"
#include "lab/mongo/update/path.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::lab::updating {
namespace {

using status = result<void>;

/// MongoDB's limit for the nulls that one path may put before it.
constexpr std::size_t max_padding = 1'500'000;

/// The text of an array's index.
class index_text {
public:
    explicit index_text(std::size_t index)
        : size_{static_cast<std::size_t>(std::to_chars(text_, text_ + sizeof text_, index).ptr -
                                         text_)}
    {
    }
    std::string_view text() const noexcept { return {text_, size_}; }

private:
    char text_[24];
    std::size_t size_;
};

/// Which children of a node have been met in the document; without memory for the usual few.
class marks {
public:
    explicit marks(std::size_t count) : many_(count > 64 ? count : 0) {}
    /// Marks it, and says whether it was not marked before.
    bool mark(std::size_t i)
    {
        if (has(i))
            return false;
        if (many_.empty())
            few_ |= std::uint64_t{1} << i;
        else
            many_[i] = true;
        return true;
    }
    bool has(std::size_t i) const
    {
        return many_.empty() ? (few_ >> i & 1) != 0 : static_cast<bool>(many_[i]);
    }

private:
    std::uint64_t few_ = 0;
    std::vector<bool> many_;
};

bool creates(op what)
{
    return what != op::unset && what != op::renamed && what != op::pull && what != op::pull_all &&
           what != op::pop;
}

}  // namespace

error malformed_document()
{
    return refuse(22, "The document is not valid BSON");
}

status rewriter::check_size() const
{
    // While writing, what is closed later is not yet there: a little slack, and the end is exact.
    if (out_.size() <= max_stored_size)
        return {};
    return refuse(17419, "Resulting document after update is larger than " +
                             std::to_string(max_stored_size));
}

status rewriter::apply(const operators& all)
{
    all_ = &all;
    for (const operation* rename : all.renames) {
        if (auto found = find_renamed(*rename); !found)
            return found;
    }
    const std::size_t start = out_.open();
    if (auto done = fields(all.paths.root(), document_, true); !done)
        return done;
    out_.close(start);
    return check_size();
}

status rewriter::create(const node& root)
{
    const std::size_t start = out_.open();
    for (const auto& [key, child] : root.children) {
        const step here{path_, key};
        if (auto made = missing(*child, key); !made)
            return std::move(made).error();
    }
    out_.close(start);
    return check_size();
}

status rewriter::fields(const node& unresolved, bson::view old, bool at_root)
{
    auto resolved = resolve(unresolved);
    if (!resolved)
        return std::move(resolved).error();
    const node& n = **resolved;
    marks met{n.children.size()};
    const std::uint8_t* run = old.data() + 4;  // where the elements begin that are just copied
    for (const bson::element& e : old) {
        if (e.malformed())
            return malformed_document();
        const auto which = n.find(e.key());
        if (!which || !met.mark(*which))
            continue;
        out_.raw(run, static_cast<std::size_t>(e.data() - run));
        run = e.data() + e.bytes().size();
        const step here{path_, e.key()};
        if (auto done = field(*n.children[*which].second, e, at_root); !done)
            return done;
    }
    out_.raw(run, static_cast<std::size_t>(old.data() + old.size() - 1 - run));
    for (std::size_t i = 0; i < n.children.size(); ++i) {
        if (met.has(i))
            continue;
        const auto& [key, child] = n.children[i];
        const step here{path_, key};
        auto made = at_root ? missing_at_root(*child, key) : missing(*child, key);
        if (!made)
            return std::move(made).error();
    }
    return check_size();
}

status rewriter::field(const node& n, const bson::element& old, bool at_root)
{
    const std::size_t before = out_.size();
    if (auto done = existing(n, old, false); !done)
        return done;
    if (!at_root || old.key() != "_id")
        return {};
    const auto was = old.bytes();
    if (out_.size() - before == was.size() && std::equal(was.begin(), was.end(), out_.at(before)))
        return {};
    return refuse(server_code::immutable_field, "Performing an update on the path '" +
                                                    std::string{n.some_leaf().path} +
                                                    "' would modify the immutable field '_id'");
}

result<bool> rewriter::missing_at_root(const node& n, std::string_view key)
{
    auto made = missing(n, key);
    if (made && *made && key.starts_with('$'))
        return refuse(server_code::dollar_prefixed_field_name,
                      "The dollar ($) prefixed field '" + std::string{key} + "' in '" +
                          std::string{n.some_leaf().path} +
                          "' is not allowed in the context of an update's replacement document. "
                          "Consider using an aggregation pipeline with $replaceWith.");
    return made;
}

status rewriter::existing(const node& n, const bson::element& old, bool in_array)
{
    if (n.kind == node_kind::leaf)
        return change(*n.leaf, old, in_array);
    const bool is_array = old.type() == bson::type::array;
    if (n.kind == node_kind::elements && !is_array)
        return refuse(server_code::bad_value,
                      "Cannot apply array updates to non-array element " + shell_text_of(old));
    if (!is_array && old.type() != bson::type::document) {
        auto resolved = resolve(n);
        if (!resolved)
            return std::move(resolved).error();
        for (const auto& [key, child] : (*resolved)->children) {
            const step here{path_, key};
            if (auto fine = blocked(*child, key, old); !fine)
                return fine;
        }
        out_.copy(old.key(), old);
        return {};
    }
    const std::size_t start = out_.open(old.type(), old.key());
    auto done = n.kind == node_kind::elements ? elements(n, old.as_array())
                : is_array                    ? indexes(n, old)
                                              : fields(n, old.as_document(), false);
    out_.close(start);
    return done;
}

status rewriter::indexes(const node& unresolved, const bson::element& old)
{
    auto resolved = resolve(unresolved);
    if (!resolved)
        return std::move(resolved).error();
    const auto& children = (*resolved)->children;  // numbers first, in their order
    auto next = children.begin();
    const auto wanted = [&] {
        return next != children.end() && is_index(next->first) ? index_of(next->first) : SIZE_MAX;
    };
    const bson::view array = old.as_document();
    const std::uint8_t* run = array.data() + 4;
    std::size_t index = 0;
    for (const bson::element& e : array) {
        if (e.malformed())
            return malformed_document();
        if (index++ != wanted())
            continue;
        out_.raw(run, static_cast<std::size_t>(e.data() - run));
        run = e.data() + e.bytes().size();
        const step here{path_, next->first};
        if (auto done = existing(*next->second, e, true); !done)
            return done;
        ++next;
    }
    out_.raw(run, static_cast<std::size_t>(array.data() + array.size() - 1 - run));
    std::size_t count = index;
    for (; next != children.end(); ++next) {
        const std::size_t before = out_.size();
        if (auto done = beyond_end(*next, count, old); !done)
            return done;
        if (out_.size() != before)
            count = index_of(next->first) + 1;
    }
    return check_size();
}

/// A path that goes past the end of an array: nulls fill the gap, if anything comes after them.
status rewriter::beyond_end(const node::child& child, std::size_t count, const bson::element& array)
{
    const auto& [key, n] = child;
    const step here{path_, key};
    if (!is_index(key))
        return blocked(*n, key, array);
    const std::size_t index = index_of(key);
    const std::size_t before = out_.size();
    const bool too_far = index - count > max_padding;
    for (std::size_t i = count; i < index && !too_far; ++i) {
        out_.put(bson::type::null, index_text{i}.text(), {});
        if (out_.size() > max_stored_size)
            return check_size();
    }
    auto made = missing(*n, key);
    if (!made)
        return std::move(made).error();
    if (!*made)
        out_.take_back(before);
    else if (too_far)
        return refuse(34, "can't backfill more than " + std::to_string(max_padding) + " elements");
    return {};
}

status rewriter::elements(const node& n, bson::array_view old)
{
    std::size_t index = 0;
    for (const bson::element& e : old) {
        if (e.malformed())
            return malformed_document();
        const index_text position{index++};
        const step here{path_, position.text()};
        auto chosen = for_element(n, e);
        if (!chosen)
            return std::move(chosen).error();
        if (!*chosen) {
            out_.copy(e.key(), e);
            continue;
        }
        if (auto done = existing(**chosen, e, true); !done)
            return done;
        if (auto small = check_size(); !small)
            return small;
    }
    return {};
}

result<bool> rewriter::missing(const node& unresolved, std::string_view key)
{
    if (unresolved.kind == node_kind::leaf)
        return make(*unresolved.leaf, key);
    if (unresolved.kind == node_kind::elements)
        return refuse(server_code::bad_value,
                      "The path '" + path_ +
                          "' must exist in the document in order to apply array updates.");
    auto resolved = resolve(unresolved);
    if (!resolved)
        return std::move(resolved).error();
    const std::size_t before = out_.size();
    const std::size_t start = out_.open(bson::type::document, key);
    bool any = false;
    for (const auto& [inner, child] : (*resolved)->children) {
        const step here{path_, inner};
        auto made = missing(*child, inner);
        if (!made)
            return made;
        any = any || *made;
    }
    if (any)
        out_.close(start);
    else
        out_.take_back(before);
    if (auto small = check_size(); !small)
        return std::move(small).error();
    return any;
}

status rewriter::blocked(const node& n, std::string_view part, const bson::element& by)
{
    if (n.kind == node_kind::elements)
        return refuse(server_code::bad_value,
                      "The path '" + path_ +
                          "' must exist in the document in order to apply array updates.");
    if (n.kind == node_kind::fields) {
        auto resolved = resolve(n);
        if (!resolved)
            return std::move(resolved).error();
        for (const auto& [key, child] : (*resolved)->children) {
            const step here{path_, key};
            if (auto fine = blocked(*child, part, by); !fine)
                return fine;
        }
        return {};
    }
    const operation& what = *n.leaf;
    if (what.what == op::unset || what.what == op::renamed ||
        (what.what == op::set_on_insert && !around_.inserting) ||
        (what.what == op::rename && !renamed_[what.rename]))
        return {};
    if (!creates(what.what))
        return refuse(server_code::path_not_viable, "Cannot use the part (" + std::string{part} +
                                                        ") of (" + std::string{what.path} +
                                                        ") to traverse the element ({" +
                                                        shell_text_of(by) + "})");
    return refuse(server_code::path_not_viable, "Cannot create field '" + std::string{part} +
                                                    "' in element {" + shell_text_of(by) + "}");
}

}  // namespace holdfast::lab::updating
