#include "holdfast/bson/builder.hpp"

#include <string>

namespace holdfast::bson {

error build_error(errc what, std::string_view key)
{
    std::string shown;
    for (const char c : key)
        shown += c == '\0' ? std::string{"\\0"} : std::string{c};
    std::string why;
    switch (what) {
    case errc::invalid_key:
        why = "a key must not contain a zero byte";
        break;
    case errc::too_large:
        return error{what, "the document grew beyond " + std::to_string(max_document_size) +
                               " bytes, the most that its length field can name"};
    case errc::malformed:
        why = "the element to be copied is malformed";
        break;
    case errc::missing_field:
        why = "the element to be copied does not exist";
        break;
    case errc::out_of_range:
        why = "the number does not fit into a 64-bit integer";
        break;
    default:
        why = "the value cannot be written as BSON";
    }
    return error{what, shown + ": " + why}.with_context("path", shown);
}

}  // namespace holdfast::bson
