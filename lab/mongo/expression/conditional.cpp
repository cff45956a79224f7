#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/compiler.hpp"
#include "lab/mongo/expression/expression.hpp"
#include "lab/mongo/expression/operators.hpp"

#include <string>
#include <utility>

namespace holdfast::lab::computing {

namespace {

using nodes = std::vector<node_ptr>;

result<nodes> compile_all(compiler& with, const bson::element& spec)
{
    nodes made;
    const auto take = [&](const bson::element& e) -> result<void> {
        auto one = with.compile(e);
        if (!one)
            return std::move(one).error();
        made.push_back(*std::move(one));
        return {};
    };
    if (spec.type() != bson::type::array) {
        if (auto taken = take(spec); !taken)
            return std::move(taken).error();
        return made;
    }
    for (const bson::element& e : spec.as_array()) {
        if (auto taken = take(e); !taken)
            return std::move(taken).error();
    }
    return made;
}

// ---- $and, $or ----

/// True or false as soon as one operand decides.
class short_circuit final : public node {
public:
    short_circuit(nodes operands, bool decides) : operands_{std::move(operands)}, decides_{decides}
    {
    }
    result<value> evaluate(scope& in) const override
    {
        for (const node_ptr& operand : operands_) {
            auto made = operand->evaluate(in);
            if (!made)
                return made;
            if (is_true(made->get()) == decides_)
                return value::of(decides_);
        }
        return value::of(!decides_);
    }

private:
    nodes operands_;
    bool decides_;
};

result<node_ptr> compile_short_circuit(compiler& with, const bson::element& spec)
{
    auto operands = compile_all(with, spec);
    if (!operands)
        return std::move(operands).error();
    return std::make_unique<short_circuit>(*std::move(operands), spec.key() == "$or");
}

// ---- $ifNull ----

class first_not_null final : public node {
public:
    explicit first_not_null(nodes operands) : operands_{std::move(operands)} {}
    result<value> evaluate(scope& in) const override
    {
        for (std::size_t i = 0; i + 1 < operands_.size(); ++i) {
            auto made = operands_[i]->evaluate(in);
            if (!made || !is_nullish(made->get()))
                return made;
        }
        return operands_.back()->evaluate(in);
    }

private:
    nodes operands_;
};

result<node_ptr> compile_if_null(compiler& with, const bson::element& spec)
{
    auto operands = compile_all(with, spec);
    if (!operands)
        return std::move(operands).error();
    if (operands->size() < 2)
        return refuse(1257300, "$ifNull needs at least two arguments, had: " +
                                   std::to_string(operands->size()));
    return std::make_unique<first_not_null>(*std::move(operands));
}

// ---- $cond, $switch ----

class branches_of final : public node {
public:
    struct branch {
        node_ptr when;
        node_ptr then;
    };
    branches_of(std::vector<branch> branches, node_ptr otherwise)
        : branches_{std::move(branches)}, otherwise_{std::move(otherwise)}
    {
    }
    result<value> evaluate(scope& in) const override
    {
        for (const branch& b : branches_) {
            auto made = b.when->evaluate(in);
            if (!made)
                return made;
            if (is_true(made->get()))
                return b.then->evaluate(in);
        }
        if (otherwise_)
            return otherwise_->evaluate(in);
        return refuse(40066,
                      "$switch could not find a matching branch for an input, and no default "
                      "was specified.");
    }

private:
    std::vector<branch> branches_;
    node_ptr otherwise_;
};

result<node_ptr> make_cond(node_ptr when, node_ptr then, node_ptr otherwise)
{
    std::vector<branches_of::branch> only;
    only.push_back({std::move(when), std::move(then)});
    return std::make_unique<branches_of>(std::move(only), std::move(otherwise));
}

result<node_ptr> compile_cond(compiler& with, const bson::element& spec)
{
    if (spec.type() != bson::type::document) {
        auto operands = compile_all(with, spec);
        if (!operands)
            return std::move(operands).error();
        if (operands->size() != 3)
            return refuse(16020, "Expression $cond takes exactly 3 arguments. " +
                                     std::to_string(operands->size()) + " were passed in.");
        return make_cond(std::move((*operands)[0]), std::move((*operands)[1]),
                         std::move((*operands)[2]));
    }
    constexpr std::string_view names[] = {"if", "then", "else"};
    constexpr int missing[] = {17080, 17081, 17082};
    node_ptr parts[3];
    for (const bson::element& e : spec.as_document()) {
        std::size_t at = 0;
        while (at < 3 && names[at] != e.key())
            ++at;
        if (at == 3)
            return refuse(17083, "Unrecognized parameter to $cond: " + std::string{e.key()});
        auto made = with.compile(e);
        if (!made)
            return made;
        parts[at] = *std::move(made);
    }
    for (std::size_t i = 0; i < 3; ++i) {
        if (!parts[i])
            return refuse(missing[i], "Missing '" + std::string{names[i]} + "' parameter to $cond");
    }
    return make_cond(std::move(parts[0]), std::move(parts[1]), std::move(parts[2]));
}

result<branches_of::branch> compile_branch(compiler& with, const bson::element& spec)
{
    if (spec.type() != bson::type::document)
        return refuse(40062, "$switch expected each branch to be an object, found: " +
                                 std::string{type_name(spec)});
    branches_of::branch made;
    for (const bson::element& e : spec.as_document()) {
        if (e.key() != "case" && e.key() != "then")
            return refuse(40063,
                          "$switch found an unknown argument to a branch: " + std::string{e.key()});
        auto part = with.compile(e);
        if (!part)
            return std::move(part).error();
        (e.key() == "case" ? made.when : made.then) = *std::move(part);
    }
    if (!made.when)
        return refuse(40064, "$switch requires each branch have a 'case' expression");
    if (!made.then)
        return refuse(40065, "$switch requires each branch have a 'then' expression.");
    return made;
}

result<node_ptr> compile_switch(compiler& with, const bson::element& spec)
{
    if (spec.type() != bson::type::document)
        return refuse(40060, "$switch requires an object as an argument, found: " +
                                 std::string{type_name(spec)});
    std::vector<branches_of::branch> branches;
    node_ptr otherwise;
    for (const bson::element& e : spec.as_document()) {
        if (e.key() == "default") {
            auto made = with.compile(e);
            if (!made)
                return made;
            otherwise = *std::move(made);
        } else if (e.key() != "branches") {
            return refuse(40067, "$switch found an unknown argument: " + std::string{e.key()});
        } else if (e.type() != bson::type::array) {
            return refuse(40061, "$switch expected an array for 'branches', found: " +
                                     std::string{type_name(e)});
        } else {
            for (const bson::element& b : e.as_array()) {
                auto made = compile_branch(with, b);
                if (!made)
                    return std::move(made).error();
                branches.push_back(*std::move(made));
            }
        }
    }
    if (branches.empty())
        return refuse(40068, "$switch requires at least one branch.");
    return std::make_unique<branches_of>(std::move(branches), std::move(otherwise));
}

constexpr special_form conditional_table[] = {
    {"$and", compile_short_circuit}, {"$or", compile_short_circuit}, {"$ifNull", compile_if_null},
    {"$cond", compile_cond},         {"$switch", compile_switch},
};

}  // namespace

std::span<const special_form> conditional_forms()
{
    return conditional_table;
}

}  // namespace holdfast::lab::computing
