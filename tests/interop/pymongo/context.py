"""The three-member set that most tests share."""
from harness import Lab, connect


class at:  # pylint: disable=invalid-name
    lab = client = seen = db = admin = None
    made = 0


def start():
    at.lab = Lab('--members', '3')
    at.client, at.seen = connect(at.lab.uri)
    at.db = at.client.interop_py
    at.admin = at.client.admin


def fresh(documents=()):
    """A collection of its own, with these documents."""
    at.made += 1
    collection = at.db[f'c{at.made}']
    if documents:
        collection.insert_many(documents)
    return collection


def fail_point(name, mode, **data):
    at.admin.command('configureFailPoint', name, mode=mode, **({'data': data} if data else {}))
