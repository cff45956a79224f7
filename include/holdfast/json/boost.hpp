#pragma once
#include "holdfast/bson/errc.hpp"
#include "holdfast/json/codec.hpp"
#include "holdfast/json/reader.hpp"
#include "holdfast/json/writer.hpp"

#include <boost/json/parser.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <string>
#include <string_view>

/// boost::json::value as content of documents, and as a member of mapped structs.
namespace holdfast::json {

template <>
struct codec<boost::json::value> {
    static bool read(reader& in, boost::json::value& to)
    {
        std::string_view text;
        if (!in.skip(text))
            return false;
        boost::json::parse_options options;
        options.max_depth = max_depth;
        boost::json::parser parser{{}, options};
        boost::json::error_code problem;
        parser.write(text.data(), text.size(), problem);
        if (problem)
            return in.fail(errc::invalid_json, problem.message());
        to = parser.release();
        return true;
    }
    static bool write(writer& out, const boost::json::value& value)
    {
        return out.write_json(boost::json::serialize(value));
    }
};

}  // namespace holdfast::json
