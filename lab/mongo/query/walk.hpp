#pragma once
#include "holdfast/bson/view.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace holdfast::lab::filter {

/// A whole number as it picks from arrays: no sign, no leading zeros.
std::optional<std::size_t> array_position(std::string_view name) noexcept;

/// Which element of the outermost array on the way a value comes from.
using array_place = std::optional<std::size_t>;

/// Shows every value that a condition on `path` looks at, as MongoDB does: documents within arrays
/// are entered, numbers pick from arrays, and (unless `whole_arrays`) an array at the end shows its
/// elements and then itself. Where a document has no such field, a missing element is shown.
template <class Visit>
class walk {
public:
    /// `visit(element, place)` gives true to stop.
    walk(bson::view document, bool whole_arrays, Visit& visit)
        : visit_{visit}, whole_arrays_{whole_arrays}, timeout_{64 * document.size() + 4096}
    {
    }

    bool document(bson::view in, std::string_view path, int depth = 0)
    {
        for (;;) {
            const std::size_t dot = path.find('.');
            bson::element found = in.find(path.substr(0, dot));
            if (!found)
                return visit_(bson::element{}, outermost_);
            if (dot == path.npos)
                return last(found);
            path.remove_prefix(dot + 1);
            if (found.type() == bson::type::array)
                return array(found.as_array(), path, depth + 1);
            if (found.type() != bson::type::document)
                return visit_(bson::element{}, outermost_);
            in = found.as_document();
        }
    }

    /// A document that gives one value in very many ways: it was left off.
    bool exhausted() const noexcept { return timeout_ == 0; }

private:
    static constexpr int deepest = 200;

    bool last(const bson::element& found)
    {
        if (found.type() != bson::type::array || whole_arrays_)
            return visit_(found, outermost_);
        std::size_t at = 0;
        for (const bson::element& e : found.as_array()) {
            if (e && visit_(e, outermost_ ? outermost_ : array_place{at}))
                return true;
            ++at;
        }
        return visit_(found, outermost_);
    }

    bool array(bson::array_view elements, std::string_view path, int depth)
    {
        if (depth > deepest)
            timeout_ = 0;
        const std::size_t dot = path.find('.');
        const auto wanted = array_position(path.substr(0, dot));
        const array_place before = outermost_;
        std::size_t at = 0;
        bool stop = false;
        for (const bson::element& e : elements) {
            if (timeout_ == 0 || --timeout_ == 0)
                return false;
            outermost_ = before ? before : array_place{at};
            if (e.type() == bson::type::document)
                stop = document(e.as_document(), path, depth);
            if (!stop && wanted == at)
                stop = picked(e, dot == path.npos ? "" : path.substr(dot + 1), dot == path.npos,
                              depth);
            if (stop)
                return true;
            ++at;
        }
        return false;
    }

    bool picked(const bson::element& e, std::string_view rest, bool is_last, int depth)
    {
        if (is_last)
            return e && visit_(e, outermost_);
        if (e.type() == bson::type::document)
            return document(e.as_document(), rest, depth);
        return e.type() == bson::type::array && array(e.as_array(), rest, depth + 1);
    }

    Visit& visit_;
    bool whole_arrays_;
    std::size_t timeout_;  // numbers can lead to one place in exponentially many ways
    array_place outermost_ = {};
};

}  // namespace holdfast::lab::filter
