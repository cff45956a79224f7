#include "lab/mongo/query/schema.hpp"

#include "lab/mongo/document/compare.hpp"
#include "lab/mongo/document/number.hpp"
#include "lab/mongo/query/walk.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::filter {

namespace {

using bson::type;

/// A document or a value against a schema; the first error ends it.
class check {
public:
    bool value(const schema& form, const bson::element& e)
    {
        if (form.types && !form.types->holds(e.type()))
            return false;
        if (form.allowed && !is_allowed(form, e))
            return false;
        if (is_number(e.type()) && !number(form, e))
            return false;
        if (e.type() == type::string && !text(form, e.as_string()))
            return false;
        if (e.type() == type::document && !object(form, e.as_document()))
            return false;
        if (e.type() == type::array && !array(form, e.as_array()))
            return false;
        return combined(form, [&](const schema& one) { return value(one, e); });
    }

    bool document(const schema& form, bson::view whole)
    {
        if (form.types && !form.types->holds(type::document))
            return false;
        if (form.allowed && !is_allowed(form, whole))
            return false;
        return object(form, whole) &&
               combined(form, [&](const schema& one) { return document(one, whole); });
    }

    std::optional<error> fault = {};

private:
    static bool is_allowed(const schema& form, const bson::element& e)
    {
        return std::ranges::any_of(form.allowed.as_array(),
                                   [&](const bson::element& one) { return equal(one, e); });
    }
    static bool is_allowed(const schema& form, bson::view whole)
    {
        return std::ranges::any_of(form.allowed.as_array(), [&](const bson::element& one) {
            return one.type() == type::document && compare(one.as_document(), whole) == 0;
        });
    }

    static bool number(const schema& form, const bson::element& e)
    {
        if (form.minimum) {
            const auto order = compare_numbers(e, form.minimum);
            if (order < 0 || (order == 0 && form.exclusive_minimum))
                return false;
        }
        if (form.maximum) {
            const auto order = compare_numbers(e, form.maximum);
            if (order > 0 || (order == 0 && form.exclusive_maximum))
                return false;
        }
        return true;
    }

    static bool within(std::int64_t size, const std::optional<std::int64_t>& least,
                       const std::optional<std::int64_t>& most)
    {
        return (!least || size >= *least) && (!most || size <= *most);
    }

    bool text(const schema& form, std::string_view from)
    {
        // Lengths count characters, of which a byte 10xxxxxx is no beginning.
        const auto length = std::ranges::count_if(
            from, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
        if (!within(length, form.least_length, form.greatest_length))
            return false;
        if (!form.pattern)
            return true;
        auto found = form.pattern->search(from);
        if (!found && !fault)
            fault = std::move(found).error();
        return found.has_value() && *found;
    }

    bool object(const schema& form, bson::view from)
    {
        std::int64_t count = 0;
        for (const bson::element& e : from) {
            ++count;
            const auto known = std::ranges::find(form.properties, e.key(), &schema::property::name);
            if (known != form.properties.end()) {
                if (!value(*known->form, e))
                    return false;
            } else if (!form.additional_properties ||
                       (form.additional_property && !value(*form.additional_property, e)))
                return false;
        }
        return within(count, form.least_properties, form.most_properties) &&
               std::ranges::all_of(form.required, [&](std::string_view name) {
                   return static_cast<bool>(from.find(name));
               });
    }

    bool array(const schema& form, bson::array_view from)
    {
        std::size_t at = 0;
        for (const bson::element& e : from) {
            if (at < form.first_items.size() && !value(*form.first_items[at], e))
                return false;
            if (at >= form.first_items.size() && !form.additional_items)
                return false;
            if (form.items && at >= form.first_items.size() && !value(*form.items, e))
                return false;
            ++at;
        }
        return within(static_cast<std::int64_t>(at), form.least_items, form.most_items) &&
               (!form.unique_items || are_unique(from));
    }

    static bool are_unique(bson::array_view from)
    {
        std::vector<bson::element> sorted{};
        for (const bson::element& e : from)
            sorted.push_back(e);
        std::ranges::sort(sorted, [](const bson::element& a, const bson::element& b) {
            return compare(a, b) < 0;
        });
        return std::ranges::adjacent_find(sorted,
                                          [](const bson::element& a, const bson::element& b) {
                                              return equal(a, b);
                                          }) == sorted.end();
    }

    template <class Ask>
    bool combined(const schema& form, const Ask& ask)
    {
        const auto ask_one = [&](const auto& one) { return ask(*one); };
        return std::ranges::all_of(form.all_of, ask_one) &&
               (form.any_of.empty() || std::ranges::any_of(form.any_of, ask_one)) &&
               (form.one_of.empty() || std::ranges::count_if(form.one_of, ask_one) == 1) &&
               (!form.none_of || !ask(*form.none_of));
    }
};

}  // namespace

result<bool> is_valid(const schema& form, bson::view document)
{
    check one;
    const bool valid = one.document(form, document);
    if (one.fault)
        return *std::move(one.fault);
    return valid;
}

}  // namespace holdfast::lab::filter
