#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/list.hpp"
#include "lab/mongo/expression/operators.hpp"

#include <string>

namespace holdfast::lab::computing {

namespace {

/// `to` with one field set to another value where it stands, or behind the others.
value with_field(bson::view to, std::string_view name, const bson::element& set_to)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    bool found = false;
    for (const bson::element& e : to) {
        if (e.malformed())
            break;
        if (e.key() != name)
            out.copy(e);
        else if (set_to && !found)
            out.copy(name, set_to);
        found = found || e.key() == name;
    }
    if (!found && set_to)
        out.copy(name, set_to);
    const auto done = out.finish();
    return done ? value{*done} : value{};
}

result<value> merged(const arguments& of, scope& in)
{
    // A single array stands for its elements, which may themselves be null.
    list inputs;
    for (std::size_t i = 0; i < of.size(); ++i)
        inputs.push_back(of[i]);
    if (inputs.size() == 1 && inputs[0].type() == bson::type::array)
        inputs = elements_of(inputs[0]);
    value whole{bson::view{}};
    for (const bson::element& e : inputs) {
        if (is_nullish(e))
            continue;
        if (e.type() != bson::type::document)
            return refuse(40400, "$mergeObjects requires object inputs, but input " + to_text(e) +
                                     " is of type " + type_text(e));
        for (const bson::element& field : e.as_document()) {
            if (field.malformed())
                break;
            whole = with_field(whole.get().as_document(), field.key(), field);
            if (auto paid = in.spend(whole.get().value_bytes().size()); !paid)
                return std::move(paid).error();
        }
    }
    return whole;
}

result<value> object_to_array(const arguments& of, scope&)
{
    if (is_nullish(of[0]))
        return null_value();
    if (of[0].type() != bson::type::document)
        return refuse(40390,
                      "$objectToArray requires a document input, found: " + type_text(of[0]));
    bson::byte_buffer bytes;
    bson::array_builder out{bytes};
    for (const bson::element& e : of[0].as_document()) {
        if (e.malformed())
            break;
        auto pair = out.document();
        pair.put("k", e.key());
        pair.copy("v", e);
    }
    auto done = out.finish();
    if (!done)
        return std::move(done).error();
    return value{*done};
}

struct key_and_value {
    bson::element key;
    bson::element held;
};

result<key_and_value> read_pair(const bson::element& e)
{
    if (e.type() == bson::type::array) {
        const list parts = elements_of(e);
        if (parts.size() != 2)
            return refuse(40397,
                          "$arrayToObject requires an array of size 2 arrays,found array of "
                          "size: " +
                              std::to_string(parts.size()));
        if (parts[0].type() != bson::type::string)
            return refuse(40395,
                          "$arrayToObject requires an array of key-value pairs, where the "
                          "key must be of type string. Found key type: " +
                              type_text(parts[0]));
        return key_and_value{parts[0], parts[1]};
    }
    const bson::view pair = e.as_document();
    std::size_t count = 0;
    for (const bson::element& field : pair) {
        (void)field;
        ++count;
    }
    if (count != 2)
        return refuse(40392,
                      "$arrayToObject requires an object keys of 'k' and 'v'. Found "
                      "incorrect number of keys:" +
                          std::to_string(count));
    const key_and_value made{pair.find("k"), pair.find("v")};
    if (!made.key || !made.held)
        return refuse(40393,
                      "$arrayToObject requires an object with keys 'k' and 'v'. Missing "
                      "either or both keys");
    if (made.key.type() != bson::type::string)
        return refuse(40394,
                      "$arrayToObject requires an object with keys 'k' and 'v', where the "
                      "value of 'k' must be of type string. Found type: " +
                          type_text(made.key));
    return made;
}

result<value> array_to_object(const arguments& of, scope& in)
{
    if (is_nullish(of[0]))
        return null_value();
    if (of[0].type() != bson::type::array)
        return refuse(40386, "$arrayToObject requires an array input, found: " + type_text(of[0]));
    value whole{bson::view{}};
    bson::type form = bson::type::invalid;
    for (const bson::element& e : elements_of(of[0])) {
        if (e.type() != bson::type::array && e.type() != bson::type::document)
            return refuse(40398,
                          "Unrecognised input type format for $arrayToObject: " + type_text(e));
        if (form != bson::type::invalid && form != e.type())
            return refuse(form == bson::type::array ? 40396 : 40391,
                          "$arrayToObject requires a consistent input format. Elements must all "
                          "be arrays or all be objects. Array was detected, now found: " +
                              type_text(e));
        form = e.type();
        const auto pair = read_pair(e);
        if (!pair)
            return pair.error();
        if (pair->key.as_string().find('\0') != std::string_view::npos)
            return refuse(4940400, "Key field cannot contain an embedded null byte");
        whole = with_field(whole.get().as_document(), pair->key.as_string(), pair->held);
        if (auto paid = in.spend(whole.get().value_bytes().size()); !paid)
            return std::move(paid).error();
    }
    return whole;
}

result<value> get_field(const arguments& of, scope&)
{
    if (of[0].type() != bson::type::string)
        return refuse(of.nodes[0]->constant() ? 5654602 : 3041704,
                      "$getField requires 'field' to evaluate to type String, but got " +
                          type_text(of[0]));
    if (is_nullish(of[1]))
        return of[1] ? null_value() : value{};
    if (of[1].type() != bson::type::document)
        return value{};
    return value{of[1].as_document().find(of[0].as_string())};
}

result<value> set_field(const arguments& of, scope&)
{
    const std::string name{of.name};
    if (!of.nodes[0]->constant())
        return refuse(4161106,
                      name +
                          " requires 'field' to evaluate to a constant, but got a non-constant "
                          "argument");
    if (of[0].type() != bson::type::string)
        return refuse(4161107, name + " requires 'field' to evaluate to type String, but got " +
                                   type_text(of[0]));
    if (of[0].as_string().find('\0') != std::string_view::npos)
        return refuse(9534700, name + ": 'field' cannot contain an embedded null byte");
    if (is_nullish(of[1]))
        return null_value();
    if (of[1].type() != bson::type::document)
        return refuse(4161105, name + " requires 'input' to evaluate to type Object");
    const bson::element set_to = of.size() > 2 ? of[2] : bson::element{};
    return with_field(of[1].as_document(), of[0].as_string(), set_to);
}

constexpr list_operator objects_table[] = {
    {"$mergeObjects", 0, list_operator::any, merged},
    {"$objectToArray", 1, 1, object_to_array},
    {"$arrayToObject", 1, 1, array_to_object},
};

constexpr named_operator named_objects_table[] = {
    {"$getField", 3041705, 3041701, get_field, {{{"field", 3041702}, {"input", 3041703}}}},
    {"$setField",
     4161100,
     4161101,
     set_field,
     {{{"field", 4161102}, {"input", 4161109}, {"value", 4161103}}}},
    {"$unsetField", 4161110, 4161111, set_field, {{{"field", 4161112}, {"input", 4161113}}}},
};

}  // namespace

std::span<const list_operator> object_operators()
{
    return objects_table;
}
std::span<const named_operator> object_operators_with_names()
{
    return named_objects_table;
}

}  // namespace holdfast::lab::computing
