"""OpenAPI schemas of the signed envelope. The module `typed_data` validates envelopes, with its own error codes."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import WithJsonSchema

from reference_node.permission.typed_data import (
    DOMAIN_FIELDS,
    DOMAIN_VERSION,
    MESSAGE_FIELDS,
    SIZE_LIMIT,
    UINT256_MAX,
    Flow,
)

Schema = dict[str, Any]
"""A JSON Schema; the types of its values depend on the keywords."""

_UINT256: Schema = {
    "anyOf": [
        {"type": "string", "pattern": "^(0|[1-9][0-9]{0,77}|0x(0|[1-9a-fA-F][0-9a-fA-F]{0,63}))$"},
        {"type": "integer", "minimum": 0, "maximum": UINT256_MAX},
    ]
}

WalletSignature = Annotated[
    object,
    WithJsonSchema(
        {
            "type": "string",
            "pattern": "^0x[0-9a-fA-F]{130}$",
            "description": "r, s and v of the EIP-712 signature; v is 27, 28, 0 or 1, s in the lower half.",
        }
    ),
]


def typed_data_of(flow: Flow) -> WithJsonSchema:
    """The schema of one flow's `typed_data`."""
    text = {"type": "string", "maxLength": SIZE_LIMIT, "description": "The same object, serialised."}
    return WithJsonSchema({"anyOf": [_envelope(flow), text], "description": f"At most {SIZE_LIMIT} bytes."})


def _envelope(flow: Flow) -> Schema:
    return _object(
        types=_object(EIP712Domain={"const": DOMAIN_FIELDS}, **{flow.value: {"const": MESSAGE_FIELDS}}),
        primaryType={"const": flow.value},
        domain=_object(name={"type": "string"}, version={"const": DOMAIN_VERSION}, chainId=_UINT256),
        message=_object(address={"type": "string", "pattern": "^0x[0-9a-fA-F]{40}$"}, issuedAt=_UINT256),
    )


def _object(**members: Schema) -> Schema:
    """An object with exactly these members."""
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}
