"""Reading function signatures."""

from __future__ import annotations

import pytest

from conformance.profile import Function, Parameter


def test_signature_is_read() -> None:
    function = Function.parse("getAccount(uint256 hash, uint64[] ids) returns (bool managed, address, string name)")
    assert function.canonical == "getAccount(uint256,uint64[])"
    assert function.inputs == (Parameter("uint256", "hash"), Parameter("uint64[]", "ids"))
    assert [(one.type, one.name) for one in function.outputs] == [
        ("bool", "managed"),
        ("address", ""),
        ("string", "name"),
    ]


def test_struct_is_a_tuple_with_members() -> None:
    function = Function.parse("list(uint256) returns ((uint64 id, (bytes32, bool)[2] inner)[] groups)")
    (groups,) = function.outputs
    assert (groups.type, groups.name) == ("(uint64,(bytes32,bool)[2])[]", "groups")
    assert [member.name for member in groups.members] == ["id", "inner"]
    assert groups.members[1].members[0] == Parameter("bytes32", "")


def test_signature_without_arguments_is_read() -> None:
    assert Function.parse(" f ( ) ").canonical == "f()"


@pytest.mark.parametrize(
    ("signature", "column"),
    [
        ("", 1),
        ("f", 2),
        ("f(", 3),
        ("f(uint)", 3),
        ("f(uint256", 10),
        ("f(uint256 a b)", 13),
        ("f(uint256,)", 11),
        ("f(bytes33)", 3),
        ("f() returns", 12),
        ("f() view", 5),
        ("f() returns (bool) x", 20),
        ("f((uint256)", 12),
    ],
)
def test_signature_that_does_not_read_is_told_with_the_column(signature: str, column: int) -> None:
    with pytest.raises(ValueError, match=f"at column {column} of"):
        Function.parse(signature)
