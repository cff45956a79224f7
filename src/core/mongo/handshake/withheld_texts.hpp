#pragma once
#include "holdfast/secret.hpp"

#include <string_view>
#include <vector>

namespace holdfast::core::mongo {

/// What the client has sent to log in, and what it is made of. A server may quote that in an error;
/// such a text is not shown.
class withheld_texts {
public:
    /// As it is, in base64, and in hexadecimal.
    void add(std::string_view text);

    /// Whether a part of `text` is one of them, or eight bytes of one, in any case.
    bool occur_in(std::string_view text) const;

private:
    std::vector<secret> forms_;  // in lower case
};

}  // namespace holdfast::core::mongo
