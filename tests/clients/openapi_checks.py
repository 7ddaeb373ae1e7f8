"""What the walk of openapi.py asks besides schemathesis' own checks; schemathesis loads this file."""

import re

import schemathesis
from schemathesis.generation import GenerationMode

# How the server refuses the shape of an argument. openapi.py sees to it that these words are still its words.
SHAPE = re.compile(
    r"unknown argument '|the body (must be|is not) |"
    r"argument '[^']*' (must be (an? |one of |between |true or false|JSON)|may have (at most )?\d+|is required$)"
)


def is_about_shape(reply):
    return bool(SHAPE.match(reply.get("error", {}).get("message", "")))


@schemathesis.hook
def filter_query(context, query):
    """An empty value in a query means that there is none, as forms send it; that is no wrong shape."""
    return not query or "" not in query.values()


@schemathesis.check
def shape_is_as_described(ctx, response, case):
    """What fits its schema may be refused for what it means, but never for its shape."""
    mode = case.meta.generation.mode if case.meta else None
    if mode == GenerationMode.POSITIVE and response.status_code == 400 and is_about_shape(response.json()):
        raise AssertionError(f"the schema allows what the server refuses: {response.json()['error']['message']}")


@schemathesis.check
def wrong_data_is_refused_or_told(ctx, response, case):
    """What does not fit its schema is refused, or the reply says what was made of it."""
    mode = case.meta.generation.mode if case.meta else None
    if mode != GenerationMode.NEGATIVE or response.status_code >= 300:
        return
    # A query of a GET route may hold more than is known, as pages and proxies add to it.
    is_json = "json" in response.headers.get("content-type", [""])[0]
    if case.method.upper() == "GET" or not is_json:
        return
    if "warning" not in response.json():
        raise AssertionError(f"taken without a word: {response.text[:300]}")
