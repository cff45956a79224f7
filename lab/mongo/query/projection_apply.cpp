#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/query/projection_plan.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::lab::projecting {

namespace {

using bson::type;

constexpr std::size_t largest = 16 * 1024 * 1024 + 16 * 1024;
constexpr int deepest_document = 200;

error too_large()
{
    return refuse(server_code::bson_object_too_large,
                  "the projected document is larger than 16 MB");
}

/// One document on its way through a projection.
class application {
public:
    application(const plan& by, bson::view root, const bson::byte_buffer& written)
        : by_{by}, root_{root}, written_{written}
    {
    }

    bool find_place()
    {
        match_details details;
        if (by_.filter == nullptr)
            return fail(no_place());
        auto matched = by_.filter->matches(root_, &details);
        if (!matched)
            return fail(std::move(matched).error());
        if (!*matched || !details.array_index)
            return fail(no_place());
        const std::string& text = *details.array_index;
        std::from_chars(text.data(), text.data() + text.size(), place_);
        return true;
    }

    void object(const field& at, bson::view from, bson::builder& out, int depth)
    {
        std::vector<bool> seen(at.computes ? at.children.size() : 0);
        for (const bson::element& e : from) {
            if (e.malformed() || fault_)
                break;
            const auto known = std::ranges::find(at.children, e.key(), &field::name);
            if (known == at.children.end()) {
                if (!by_.including)
                    out.copy(e);
                continue;
            }
            if (at.computes)
                seen[static_cast<std::size_t>(known - at.children.begin())] = true;
            one(*known, e, out, depth);
        }
        for (std::size_t i = 0; at.computes && i < at.children.size() && !fault_; ++i)
            compute(at.children[i], from, seen[i], out, depth);
    }

    std::optional<error> fault() && { return std::move(fault_); }

private:
    static error no_place()
    {
        return refuse(51246,
                      "positional operator '.$' couldn't find a matching element in the array");
    }
    bool fail(error why)
    {
        if (!fault_)
            fault_ = std::move(why);
        return false;
    }

    void one(const field& to, const bson::element& e, bson::builder& out, int depth)
    {
        switch (to.what) {
        case kind::include:
            out.copy(e);
            break;
        case kind::exclude:
            break;
        case kind::slice:
            slice(to, e, out);
            break;
        case kind::positional:
            positional(e, out);
            break;
        case kind::nested:
            nested(to, e, out, depth);
            break;
        case kind::element:
        case kind::computed:
            break;  // they follow behind
        }
    }

    void nested(const field& to, const bson::element& e, bson::builder& out, int depth)
    {
        if (depth > deepest_document)
            return;
        if (e.type() == type::document) {
            auto inner = out.document(e.key());
            object(to, e.as_document(), inner, depth + 1);
        } else if (e.type() == type::array) {
            auto inner = out.array(e.key());
            array(to, e.as_array(), inner, depth + 1);
        } else if (to.computes)
            created(to, out, depth);
        else if (!by_.including)
            out.copy(e);
    }

    void array(const field& to, bson::array_view from, bson::array_builder& out, int depth)
    {
        std::size_t at = 0;
        bool found = false;
        for (const bson::element& e : from) {
            if (e.malformed() || depth > deepest_document || fault_)
                return;
            if (to.picks && at++ != place_)
                continue;
            found = true;
            if (e.type() == type::document) {
                auto inner = out.document();
                object(to, e.as_document(), inner, depth + 1);
            } else if (e.type() == type::array) {
                auto inner = out.array();
                array(to, e.as_array(), inner, depth + 1);
            } else if (!by_.including)
                out.copy(e);
        }
        if (to.picks && !found)
            fail(mismatch());
    }

    static error mismatch() { return refuse(51247, "positional operator '.$' element mismatch"); }

    void positional(const bson::element& e, bson::builder& out)
    {
        if (e.type() != type::array) {
            out.copy(e);
            return;
        }
        const bson::element picked = e.as_array()[place_];
        if (!picked) {
            fail(mismatch());
            return;
        }
        out.array(e.key()).copy(picked);
    }

    static void slice(const field& to, const bson::element& e, bson::builder& out)
    {
        if (e.type() != type::array) {
            out.copy(e);
            return;
        }
        const auto count = static_cast<std::int64_t>(e.as_array().count());
        const std::int64_t first = to.skip < 0 ? std::max<std::int64_t>(count + to.skip, 0)
                                               : to.skip;
        auto inner = out.array(e.key());
        std::int64_t at = 0;
        for (const bson::element& one : e.as_array()) {
            if (one && at >= first && at - first < to.limit)
                inner.copy(one);
            ++at;
        }
    }

    /// What stands behind the fields that the document has.
    void compute(const field& to, bson::view from, bool seen, bson::builder& out, int depth)
    {
        if (to.what == kind::nested && to.computes && !seen)
            created(to, out, depth);
        if (to.what == kind::element)
            element(to, from, out);
        if (to.what != kind::computed)
            return;
        auto made = to.value->evaluate(root_);
        if (!made)
            fail(std::move(made).error());
        else if (written_.size() > largest)
            fail(too_large());
        else if (!made->missing())
            out.copy(to.name, made->get());
    }

    /// A document of nothing but computed fields.
    void created(const field& to, bson::builder& out, int depth)
    {
        if (depth > deepest_document)
            return;
        auto inner = out.document(to.name);
        object(to, bson::view{}, inner, depth + 1);
    }

    void element(const field& to, bson::view from, bson::builder& out)
    {
        const bson::element found = from.find(to.name);
        if (found.type() != type::array)
            return;
        bson::byte_buffer bytes;
        bson::builder as_asked{bytes};
        as_asked.copy("a", found);
        const auto document = as_asked.finish();
        if (!document)
            return;
        match_details details;
        auto matched = to.wanted->matches(*document, &details);
        if (!matched) {
            fail(std::move(matched).error());
            return;
        }
        if (!*matched || !details.array_index)
            return;
        std::size_t place = 0;
        const std::string& text = *details.array_index;
        std::from_chars(text.data(), text.data() + text.size(), place);
        if (const bson::element picked = found.as_array()[place])
            out.array(to.name).copy(picked);
    }

    const plan& by_;
    bson::view root_;
    const bson::byte_buffer& written_;
    std::size_t place_ = 0;  // what a.$ means
    std::optional<error> fault_;
};

}  // namespace

result<bson::document> apply_plan(const plan& by, bson::view document)
{
    bson::byte_buffer bytes;
    application one{by, document, bytes};
    bson::builder out{bytes};
    if (!by.root.picks || one.find_place())
        one.object(by.root, document, out, 0);
    const auto done = out.finish();
    if (auto fault = std::move(one).fault())
        return *std::move(fault);
    if (!done)
        return refuse(22, "a document that is no valid BSON cannot be projected");
    if (bytes.size() > largest)
        return too_large();
    return bson::document::adopt(std::move(bytes));
}

}  // namespace holdfast::lab::projecting
