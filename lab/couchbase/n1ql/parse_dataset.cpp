#include "lab/couchbase/n1ql/statement_parser.hpp"

#include <utility>

namespace holdfast::lab::couchbase::n1ql {

namespace {

using verb = dataset_statement::verb;

}  // namespace

bool statement_parser::begins_dataset() const noexcept
{
    return is("CREATE") || is("DROP") || is("CONNECT") || is("DISCONNECT") || is("ALTER");
}

/// Its name with all its parts, and on which side of it IF EXISTS may stand.
void statement_parser::read_dataset(dataset_statement& made)
{
    const auto existence = [&] {
        if (!is("IF"))
            return;
        if (is_keyword(ahead(), "NOT"))
            made.if_not_exists = accept_if("NOT", "EXISTS");
        else
            made.if_exists = accept_if("EXISTS");
    };
    existence();
    made.name = expect_dotted_names();
    existence();
}

dataset_statement statement_parser::dataset()
{
    dataset_statement made;
    if (accept("ALTER"))
        return altered_collection();
    const bool connects = is("CONNECT");
    if (accept("CONNECT") || accept("DISCONNECT")) {
        expect("LINK");
        made.what = connects ? verb::connect_link : verb::disconnect_link;
        read_dataset(made);
        if (accept("WITH"))
            (void)any_expression();
        return made;
    }
    const bool creates = accept("CREATE");
    if (!creates)
        expect("DROP");
    accept("ANALYTICS");
    if (accept("DATAVERSE") || accept("SCOPE")) {
        made.what = creates ? verb::create_dataverse : verb::drop_dataverse;
        read_dataset(made);
    } else if (accept("INDEX")) {
        made.what = creates ? verb::create_index : verb::drop_index;
        read_dataset(made);
        if (creates) {
            expect("ON");
            auto on = expect_dotted_names();
            on.push_back(std::move(made.name.back()));
            made.name = std::move(on);
            expect_symbol("(");
            while (!is_symbol(")") && !is_at_end())
                take();  // fields with their types: there is no index, every query scans
            expect_symbol(")");
        }
    } else if (accept("DATASET") || accept("COLLECTION")) {
        made.what = creates ? verb::create_dataset : verb::drop_dataset;
        read_dataset(made);
        if (creates) {
            expect("ON");
            made.on = keyspace();
            if (is("WHERE"))
                fail("datasets with a condition are not supported");
        }
    } else {
        fail();
    }
    return made;
}

/// ALTER COLLECTION b.s.c ENABLE ANALYTICS: a dataset of that name in the dataverse b/s.
dataset_statement statement_parser::altered_collection()
{
    dataset_statement made;
    expect("COLLECTION");
    made.on = keyspace();
    made.name = made.on.parts;
    const bool enables = accept("ENABLE");
    if (!enables)
        expect("DISABLE");
    expect("ANALYTICS");
    made.what = enables ? verb::create_dataset : verb::drop_dataset;
    made.if_not_exists = made.if_exists = true;
    return made;
}

}  // namespace holdfast::lab::couchbase::n1ql
