#include "check.hpp"

#include <cstdlib>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HOLDFAST_SANITIZED
#endif
#endif

namespace holdfast::property {

namespace {

rc::Gen<std::uint8_t> any_byte()
{
    return rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint8_t>());
}

}  // namespace

rc::Gen<choice_bytes> any_choices()
{
    return rc::gen::container<choice_bytes>(any_byte());
}

rc::Gen<choice_bytes> few_choices()
{
    return rc::gen::scale(0.1, rc::gen::container<choice_bytes>(any_byte()));
}

int property_count()
{
    if (const char* const wanted = std::getenv("HOLDFAST_PROPERTY_COUNT"))
        return std::atoi(wanted);
#ifdef HOLDFAST_SANITIZED
    return 10'000;
#else
    return 100'000;
#endif
}

}  // namespace holdfast::property
