#include "lab/mongo/aggregate/shape.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/document/shell_text.hpp"
#include "lab/mongo/expression/compiler.hpp"
#include "lab/mongo/expression/node.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::staging {

const shape* shape::find(std::string_view field) const noexcept
{
    const auto found = std::ranges::find(fields, field, &shape::name);
    return found == fields.end() ? nullptr : &*found;
}

namespace {

/// Reads specifications into a tree, and sees that no path is said twice.
class shape_reader {
public:
    shape_reader(const surroundings* in, bool additions) : in_{in}, additions_{additions} {}

    result<void> read(bson::view spec, const std::vector<std::string>& above)
    {
        if (above.size() > static_cast<std::size_t>(computing::max_expression_depth))
            return refuse(server_code::overflow, "a specification is nested too deeply");
        for (const bson::element& e : spec) {
            if (e.malformed())
                return refuse(22, "malformed BSON in a specification");
            auto names = computing::split_path(e.key());
            if (!names)
                return std::move(names).error();
            std::vector<std::string> path = above;
            std::ranges::move(*names, std::back_inserter(path));
            if (auto done = read_value(e, path); !done)
                return done;
        }
        return {};
    }

    result<void> insert(std::vector<std::string> path, shape leaf)
    {
        shape* at = &top_;
        at->computes = at->computes || leaf.computes;
        for (std::size_t i = 0; i + 1 < path.size(); ++i) {
            auto found = std::ranges::find(at->fields, path[i], &shape::name);
            if (found == at->fields.end()) {
                at->fields.push_back({});
                at->fields.back().name = path[i];
                at = &at->fields.back();
            } else if (found->what == shape::kind::nested) {
                at = &*found;
            } else {
                return collision(path, true);
            }
            at->computes = at->computes || leaf.computes;
        }
        if (at->find(path.back()))
            return collision(path, false);
        leaf.name = path.back();
        at->fields.push_back(std::move(leaf));
        return {};
    }

    shape take() { return std::move(top_); }
    /// Paths that were said to be in or out, in their order.
    struct decision {
        std::string path;
        shape::kind what;
        bson::element said;
    };
    const std::vector<decision>& decisions() const { return decisions_; }

private:
    static std::string joined(const std::vector<std::string>& path)
    {
        std::string whole;
        for (const std::string& name : path)
            whole += (whole.empty() ? "" : ".") + name;
        return whole;
    }

    error collision(const std::vector<std::string>& path, bool below) const
    {
        if (additions_)
            return refuse(40176,
                          "specification contains two conflicting paths. Cannot specify "
                          "twice: '" +
                              joined(path) + "'");
        if (below)
            return refuse(31249, "Path collision at " + joined(path) + " remaining portion " +
                                     path.back());
        return refuse(31250, "Path collision at " + joined(path));
    }

    static bool is_expression(const bson::element& e)
    {
        const auto first = e.as_document().begin();
        return first != std::default_sentinel && first->key().starts_with('$');
    }

    result<void> read_value(const bson::element& e, const std::vector<std::string>& path)
    {
        if (e.type() == bson::type::document && !is_expression(e)) {
            if (!e.as_document().empty())
                return read(e.as_document(), path);
            if (!additions_)
                return refuse(51270,
                              "An empty sub-projection is not a valid value. Found empty "
                              "object at path '" +
                                  joined(path) + "'");
        }
        if (e.type() == bson::type::document && !additions_) {
            if (e.as_document().find("$elemMatch"))
                return refuse(server_code::unrecognized_expression,
                              "Cannot use $elemMatch in this context");
            if (auto known = check_projected(e.as_document()); !known)
                return known;
        }
        shape leaf;
        const bool flag = e.type() == bson::type::boolean || e.type() == bson::type::int32 ||
                          e.type() == bson::type::int64 || e.type() == bson::type::double_ ||
                          e.type() == bson::type::decimal128;
        if (flag && !additions_) {
            leaf.what = is_true(e) ? shape::kind::include : shape::kind::exclude;
        } else {
            auto by = expression::compile(e, in_->by, in_->context);
            if (!by)
                return std::move(by).error();
            leaf.what = shape::kind::compute;
            leaf.by = *std::move(by);
            leaf.computes = true;
        }
        decisions_.push_back({joined(path), leaf.what, e});
        return insert(path, std::move(leaf));
    }

    const surroundings* in_;
    bool additions_;
    shape top_;
    std::vector<decision> decisions_;
};

error not_excluding(const shape_reader::decision& one)
{
    if (one.what == shape::kind::include)
        return refuse(31253,
                      "Cannot do inclusion on field " + one.path + " in exclusion projection");
    if (one.said.type() == bson::type::document)
        return refuse(31252, "Cannot use expression other than $meta in exclusion projection");
    return refuse(31310, "Cannot use an expression " + shell_text_of(one.said) +
                             " in an exclusion projection");
}

/// Inclusion or exclusion, as the first field that says either; _id may differ.
result<shaping> mode_of(const std::vector<shape_reader::decision>& decisions)
{
    std::optional<shaping> mode;
    for (const auto& one : decisions) {
        if (one.path == "_id" && one.what != shape::kind::compute)
            continue;
        const bool in = one.what != shape::kind::exclude;
        if (!mode)
            mode = in ? shaping::inclusion : shaping::exclusion;
        else if (in && *mode == shaping::exclusion)
            return not_excluding(one);
        else if (!in && *mode == shaping::inclusion)
            return refuse(31254,
                          "Cannot do exclusion on field " + one.path + " in inclusion projection");
    }
    if (mode)
        return *mode;
    const bool keeps_id = decisions.front().what == shape::kind::include;
    return keeps_id ? shaping::inclusion : shaping::exclusion;
}

// ---- Applying ----

class shaper {
public:
    shaper(shaping mode, bson::view root) : mode_{mode}, root_{root} {}

    result<void> write(bson::builder& out, bson::view from, const shape& at)
    {
        std::vector<bool> seen(at.fields.size());
        for (const bson::element& e : from) {
            if (e.malformed())
                break;
            const shape* const field = at.find(e.key());
            if (!field) {
                if (mode_ != shaping::inclusion)
                    out.copy(e);
                continue;
            }
            const auto index = static_cast<std::size_t>(field - at.fields.data());
            const bool later = mode_ == shaping::inclusion && field->what == shape::kind::compute;
            if (later || seen[index])
                continue;
            seen[index] = true;
            if (auto done = write_field(out, e, *field); !done)
                return done;
        }
        for (std::size_t i = 0; i < at.fields.size(); ++i) {
            if (seen[i] || !at.fields[i].computes)
                continue;
            if (auto done = write_field(out, {}, at.fields[i]); !done)
                return done;
        }
        return {};
    }

private:
    result<void> write_field(bson::builder& out, const bson::element& before, const shape& field)
    {
        switch (field.what) {
        case shape::kind::exclude:
            return {};
        case shape::kind::include:
            out.copy(before);
            return {};
        case shape::kind::nested:
            return write_value(out, field.name, before, field);
        case shape::kind::compute:
            break;
        }
        const auto made = field.by->evaluate(root_);
        if (!made)
            return made.error();
        if (!made->missing())
            out.copy(field.name, made->get());
        return {};
    }

    /// A value under a nested shape: documents get it, arrays hand it to their elements.
    result<void> write_value(bson::builder& out, std::string_view key, const bson::element& before,
                             const shape& at)
    {
        if (before.type() == bson::type::array) {
            auto inner = out.array(key);
            for (const bson::element& e : before.as_array()) {
                const bool nested = e.type() == bson::type::document ||
                                    e.type() == bson::type::array;
                if (e.malformed() || (!nested && mode_ == shaping::inclusion && !at.computes))
                    continue;
                if (auto done = write_value(inner.elements(), inner.next_key(), e, at); !done)
                    return done;
            }
            return {};
        }
        if (before.type() == bson::type::document || at.computes) {
            const bool is_document = before.type() == bson::type::document;
            auto inner = out.document(key);
            return write(inner, is_document ? before.as_document() : bson::view{}, at);
        }
        if (mode_ != shaping::inclusion && before)
            out.copy(key, before);
        return {};
    }

    shaping mode_;
    bson::view root_;
};

}  // namespace

result<shape_plan> read_projection(bson::view spec, const surroundings& in)
{
    if (spec.empty())
        return refuse(51272, "projection specification must have at least one field");
    shape_reader reader{&in, false};
    if (auto done = reader.read(spec, {}); !done)
        return std::move(done).error();
    const auto mode = mode_of(reader.decisions());
    if (!mode)
        return mode.error();
    shape_plan plan{reader.take(), *mode};
    const shape* const id = plan.top.find("_id");
    if (*mode == shaping::inclusion && !id) {
        shape kept;
        kept.what = shape::kind::include;
        kept.name = "_id";
        plan.top.fields.insert(plan.top.fields.begin(), std::move(kept));
    }
    return plan;
}

result<shape_plan> read_additions(bson::view spec, const surroundings& in)
{
    if (spec.empty())
        return refuse(40177, "specification must have at least one field");
    shape_reader reader{&in, true};
    if (auto done = reader.read(spec, {}); !done)
        return std::move(done).error();
    return shape_plan{reader.take(), shaping::addition};
}

result<shape_plan> read_removals(const std::vector<std::string_view>& paths)
{
    shape_reader reader{nullptr, false};
    for (const std::string_view path : paths) {
        auto names = computing::split_path(path);
        if (!names)
            return std::move(names).error();
        shape leaf;
        leaf.what = shape::kind::exclude;
        if (auto done = reader.insert(*std::move(names), std::move(leaf)); !done)
            return std::move(done).error();
    }
    return shape_plan{reader.take(), shaping::exclusion};
}

result<bson::document> apply_shape(const shape_plan& plan, bson::view document)
{
    bson::byte_buffer bytes;
    {
        bson::builder out{bytes};
        shaper with{plan.mode, document};
        if (auto done = with.write(out, document, plan.top); !done)
            return std::move(done).error();
    }
    auto made = bson::document::adopt(std::move(bytes));
    if (plan.top.computes) {
        if (auto good = check_document(made); !good)
            return std::move(good).error();
    }
    return made;
}

}  // namespace holdfast::lab::staging
