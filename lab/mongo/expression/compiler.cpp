#include "lab/mongo/expression/compiler.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/call.hpp"
#include "lab/mongo/expression/path.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace holdfast::lab::computing {

namespace {

class constant_value final : public node {
public:
    explicit constant_value(value of) : value_{std::move(of)} {}
    result<value> evaluate(scope&) const override { return value_; }
    const value* constant() const noexcept override { return &value_; }

private:
    value value_;
};

/// "$a.b" and "$$ROOT.a.b".
class root_path final : public node {
public:
    explicit root_path(std::vector<std::string> fields) : fields_{std::move(fields)} {}
    result<value> evaluate(scope& in) const override
    {
        value made = fields_.empty() ? value{in.root} : value_at(in.root, fields_);
        if (auto paid = in.spend(made.get().value_bytes().size()); !paid)
            return std::move(paid).error();
        return made;
    }

private:
    std::vector<std::string> fields_;
};

/// "$$name.a.b" of a variable of $let and the like.
class slot_path final : public node {
public:
    slot_path(std::size_t slot, std::vector<std::string> fields)
        : slot_{slot}, fields_{std::move(fields)}
    {
    }
    result<value> evaluate(scope& in) const override
    {
        value made = value_at(in.slots[slot_].get(), fields_);
        if (auto paid = in.spend(made.get().value_bytes().size()); !paid)
            return std::move(paid).error();
        return made;
    }

private:
    std::size_t slot_;
    std::vector<std::string> fields_;
};

/// {a: "$x", b: 1}; fields without a value are left out.
class object_of final : public node {
public:
    struct field {
        std::string name;
        node_ptr value_of;
    };
    explicit object_of(std::vector<field> fields) : fields_{std::move(fields)} {}
    result<value> evaluate(scope& in) const override
    {
        bson::byte_buffer bytes;
        bson::builder out{bytes};
        for (const field& f : fields_) {
            auto made = f.value_of->evaluate(in);
            if (!made)
                return made;
            if (!made->missing())
                out.copy(f.name, made->get());
            if (auto paid = in.spend(bytes.size()); !paid)
                return std::move(paid).error();
        }
        auto done = out.finish();
        if (!done)
            return std::move(done).error();
        return value{*done};
    }

private:
    std::vector<field> fields_;
};

/// ["$a", 1]; elements without a value are null.
class array_of final : public node {
public:
    explicit array_of(std::vector<node_ptr> elements) : elements_{std::move(elements)} {}
    result<value> evaluate(scope& in) const override
    {
        bson::byte_buffer bytes;
        bson::array_builder out{bytes};
        for (const node_ptr& e : elements_) {
            auto made = e->evaluate(in);
            if (!made)
                return made;
            if (made->missing())
                out.add(bson::null{});
            else
                out.copy(made->get());
            if (auto paid = in.spend(bytes.size()); !paid)
                return std::move(paid).error();
        }
        auto done = out.finish();
        if (!done)
            return std::move(done).error();
        return value{*done};
    }

private:
    std::vector<node_ptr> elements_;
};

/// The variables that every expression knows; nothing for a name that is none of them.
std::optional<value> system_variable(std::string_view name, const expression_context& context)
{
    if (name == "NOW")
        return value::of(context.now);
    if (name == "CLUSTER_TIME")
        return value::of(context.cluster_time);
    if (name == "REMOVE")
        return value{};
    if (name == "USER_ROLES")
        return value{bson::array_view{}};
    return std::nullopt;
}

bool all_constant(const auto& parts, const auto& node_of)
{
    return std::ranges::all_of(parts, [&](const auto& part) { return node_of(part)->constant(); });
}

}  // namespace

node_ptr constant_node(value of)
{
    return std::make_unique<constant_value>(std::move(of));
}

result<node_ptr> compiler::compile(const bson::element& from)
{
    if (depth_ == max_expression_depth)
        return refuse(server_code::overflow, "an expression is nested deeper than " +
                                                 std::to_string(max_expression_depth) + " levels");
    ++depth_;
    auto made = compile_here(from);
    --depth_;
    return made;
}

result<node_ptr> compiler::compile_with(std::vector<std::string> names, const bson::element& body)
{
    const std::size_t before = names_.size();
    std::ranges::move(names, std::back_inserter(names_));
    auto made = compile(body);
    names_.resize(before);
    return made;
}

result<node_ptr> compiler::compile_here(const bson::element& from)
{
    if (from.malformed())
        return refuse(22, "malformed BSON in an expression");
    if (from.type() == bson::type::string && from.as_string().starts_with('$'))
        return compile_path(from.as_string());
    if (from.type() == bson::type::array)
        return compile_array(from.as_array());
    if (from.type() != bson::type::document)
        return constant_node(value{from});
    const bson::view object = from.as_document();
    if (object.empty())
        return constant_node(value{from});
    const bson::element first = *object.begin();
    if (!first.malformed() && first.key().starts_with('$')) {
        auto rest = object.begin();
        if (++rest != object.end())
            return refuse(15983,
                          "an object representing an expression must have exactly one field, and "
                          "the first one is '" +
                              std::string{first.key()} + "'");
        return compile_call(first);
    }
    return compile_object(object);
}

result<node_ptr> compiler::compile_path(std::string_view text)
{
    const bool variable = text.starts_with("$$");
    const std::string_view path = text.substr(variable ? 2 : 1);
    if (path.empty())
        return variable
                   ? refuse(server_code::failed_to_parse, "empty variable names are not allowed")
                   : refuse(16872, "'$' by itself is not a valid FieldPath");
    auto fields = split_path(path);
    if (!fields)
        return std::move(fields).error();
    if (!variable)
        return compile_variable("CURRENT", *std::move(fields));
    const std::string name = std::move(fields->front());
    fields->erase(fields->begin());
    return compile_variable(name, *std::move(fields));
}

result<node_ptr> compiler::compile_variable(std::string_view name, std::vector<std::string> fields)
{
    for (std::size_t slot = names_.size(); slot-- > 0;) {
        if (names_[slot] == name)
            return std::make_unique<slot_path>(slot, std::move(fields));
    }
    if (name == "ROOT" || name == "CURRENT")
        return std::make_unique<root_path>(std::move(fields));
    if (const bson::element found = context_.variables.find(name))
        return constant_node(value_at(found, fields));
    if (const auto known = system_variable(name, context_))
        return constant_node(value_at(known->get(), fields));
    return refuse(server_code::undefined_variable,
                  "Use of undefined variable: " + std::string{name});
}

value compiler::fold(const node& constant_parts) const
{
    scope in{{}, context_, by_};
    auto made = constant_parts.evaluate(in);
    return made ? *std::move(made) : value{};
}

result<node_ptr> compiler::fold_call(node_ptr call)
{
    scope in{{}, context_, by_};
    in.work_left = folding_left_;
    auto made = call->evaluate(in);
    folding_left_ = in.work_left;
    if (made)
        return constant_node(*std::move(made));
    const bool too_much = made.error().code().value() ==
                          static_cast<int>(server_code::exceeded_time_limit);
    if (too_much || forms_ > 0)
        return call;
    return std::move(made).error();
}

result<node_ptr> compiler::compile_form(const special_form& form, const bson::element& call)
{
    ++forms_;
    auto made = form.compile(*this, call);
    --forms_;
    return made;
}

result<node_ptr> compiler::compile_object(bson::view from)
{
    std::vector<object_of::field> fields;
    for (const bson::element& e : from) {
        if (e.malformed())
            return refuse(22, "malformed BSON in an expression");
        if (e.key().starts_with('$'))
            return refuse(16410,
                          "FieldPath field names may not start with '$'. Consider using $getField "
                          "or $setField.");
        if (e.key().find('.') != std::string_view::npos)
            return refuse(16412,
                          "FieldPath field names may not contain '.'. Consider using "
                          "$getField or $setField.");
        auto made = compile(e);
        if (!made)
            return made;
        fields.push_back({std::string{e.key()}, *std::move(made)});
    }
    const bool same = all_constant(fields, [](const auto& f) { return f.value_of.get(); });
    auto whole = std::make_unique<object_of>(std::move(fields));
    if (same && from.size() < max_value_size)
        return constant_node(fold(*whole));
    return whole;
}

result<node_ptr> compiler::compile_array(bson::array_view from)
{
    std::vector<node_ptr> elements;
    for (const bson::element& e : from) {
        auto made = compile(e);
        if (!made)
            return made;
        elements.push_back(*std::move(made));
    }
    const bool same = all_constant(elements, [](const auto& e) { return e.get(); });
    auto whole = std::make_unique<array_of>(std::move(elements));
    if (same && from.bytes().size() < max_value_size)
        return constant_node(fold(*whole));
    return whole;
}

result<node_ptr> compiler::compile_call(const bson::element& call)
{
    return computing::compile_call(*this, call);
}

}  // namespace holdfast::lab::computing
