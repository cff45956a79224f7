#include "lab/mongo/document/value.hpp"

#include "lab/mongo/document/compare.hpp"

namespace holdfast::lab {

value::value(const bson::element& from)
{
    if (!from)
        return;  // a missing or malformed element has no value
    bson::builder out{bytes_};
    out.copy("", from);
    (void)out.finish();
}

value::value(bson::view document)
{
    bson::builder out{bytes_};
    out.put("", document);
    (void)out.finish();
}

value::value(bson::array_view array)
{
    bson::builder out{bytes_};
    out.put("", array);
    (void)out.finish();
}

bson::element value::get() const noexcept
{
    if (bytes_.empty())
        return {};
    return *bson::view::trusted(bytes_.data()).begin();
}

bool value_less::operator()(const value& a, const value& b) const
{
    return compare(a.get(), b.get(), by) < 0;
}

}  // namespace holdfast::lab
