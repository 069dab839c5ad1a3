"""The story of a failing case, in names in place of ids."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from made_runs import EXCHANGE

from conformance.report.case_text import MOST_LINES, explain
from conformance.report.difference import difference
from conformance.report.story import LEAST_STEPS, MOST_STEPS, story
from conformance.report.telling import in_short
from conformance.service.derivations import code_cid, hashed_cid
from conformance.values.json_text import written
from conformance.verdict import ContractCall, Conversation, ConversationExchange, Failure, Outcome, Verdict

WALLET = "0x" + "ab" * 32
OTHER = "0x" + "cd" * 32
REFUSAL = '{"title": "Forbidden", "status": 403, "code": "not-permitted", "detail": "no group lists it"}'
LONG_REFUSAL = "no group lists it " * 4 + "at all"


def asked(
    operation: str, body: str = "{}", *, by: str = "", status: int = 200, answer: str = "{}", **given: str
) -> ConversationExchange:
    return ConversationExchange(
        method="POST",
        url=f"http://127.0.0.1/core/v1/{operation}",
        request_headers={"X-Api-Key": f"${{{by}}}"} if by else {},
        request_body=body,
        status=status,
        response_body=answer,
        seconds=0,
        given=given,
        operation=operation,
    )


ALICE = asked("new_account", API_KEY_1=".api_key")
"""The account whose key is the first."""


def with_key(operation: str, body: str = "{}", **members: Any) -> ConversationExchange:
    """A request with the first key, which is alice's where a story begins with her account."""
    return asked(operation, body, by="API_KEY_1", **members)


def to_path(path: str, body: str = "{}", **given: str) -> ConversationExchange:
    """A request beside the operations of the service."""
    return replace(asked("", body, **given), url=f"http://127.0.0.1/{path}")


ADDED = with_key("add_group", GROUP_2=".group_id")
LISTED = with_key("list_groups")


def steps_of(*exchanges: ConversationExchange) -> tuple[str, ...]:
    """The story of these exchanges, of which the last departs."""
    return story(Conversation(exchanges)).steps


CONVERSATION = Conversation(
    exchanges=(
        ALICE,
        asked("new_account", API_KEY_2=".api_key"),
        with_key("list_wallets", ID_3=".[0].id", ID_4=".[1].id"),
        with_key("add_group", '{"pkp_ids_permitted":["${ID_3}"],"name":"G"}', GROUP_5=".group_id"),
        with_key("add_group", '{"pkp_ids_permitted":["${ID_4}"]}', GROUP_6=".group_id"),
        with_key("add_usage_api_key", '{"execute_in_groups":[${GROUP_5}],"can_create_pkps":false}',
                 API_KEY_7=".usage_api_key"),
        asked("list_groups", by="API_KEY_2"),
        with_key("remove_usage_api_key", '{"usage_api_key":"${API_KEY_7}"}'),
        asked("run_action", '{"jsParams":{"pkpId":"${ID_3}"}}', by="API_KEY_7", status=403, answer=REFUSAL),
        LISTED,
    ),
    left_out=2,
    departed=8,
    names={"ID_3": WALLET, "ID_4": OTHER},
)  # fmt: skip


def test_story_tells_the_steps_that_concern_the_failing_request() -> None:
    assert story(CONVERSATION).steps == (
        "… 2 requests, 2 new_account",
        "alice: list_wallets → 200, P, P2",
        'alice: add_group pkp_ids_permitted [P], name "G" → 200, G',
        "alice: add_group pkp_ids_permitted [P2] → 200, G2",
        "alice: add_usage_api_key execute_in_groups [G], can_create_pkps false → 200, K",
        "bob: list_groups → 200, {}",
        "alice: remove_usage_api_key usage_api_key K → 200",
        "K: run_action jsParams {pkpId:P} → 403, not-permitted: no group lists it",
    )


def test_story_tells_the_requests_that_failed_beside_the_first() -> None:
    bearer = replace(CONVERSATION.exchanges[8], request_headers={"Authorization": "Bearer ${API_KEY_7}"})
    more = tuple(
        asked("add_group", by=by, status=403, answer=REFUSAL) for by in ("API_KEY_1", "API_KEY_1", "API_KEY_2")
    )
    exchanges = (*CONVERSATION.exchanges, bearer, *more)
    told = story(replace(CONVERSATION, exchanges=exchanges, others=(10, 11, 12, 13)))
    assert told.steps[-4:] == (
        *story(CONVERSATION).steps[-1:],
        "too: K as Bearer: run_action jsParams {pkpId:P} → 403, not-permitted: no group lists it",
        "too: alice: add_group → 403, not-permitted: no group lists it (2 times)",
        "too: bob: add_group → 403, not-permitted: no group lists it",
    ), "equal lines are told once"


def test_failures_that_the_story_tells_are_not_told_once_more() -> None:
    beside = replace(CONVERSATION, exchanges=(*CONVERSATION.exchanges, CONVERSATION.exchanges[8]), others=(10,))
    failure = Failure("line 1", "a refusal", "status 200", beside=("line 1: expected a refusal; got status 200",))
    same, apart = (
        explain(Outcome("p::c", "title", ("EP-010",), Verdict.FAIL, "", failure=one), "again")
        for one in (replace(failure, conversation=beside), replace(failure, conversation=CONVERSATION))
    )
    assert ("too: " in same, "1 more" in same) == (True, False)
    assert ("too: " in apart, "1 more" in apart) == (False, True)


def test_story_tells_equal_steps_once_and_how_the_clock_was_set() -> None:
    proof = replace(asked("balance"), method="GET", request_headers={"X-Wallet-Auth": "[redacted]"})
    clocks = [to_path("control/clock", f'{{"offset_seconds": {offset}}}') for offset in (0, -60, 301)]
    assert steps_of(proof, proof, proof, *clocks, proof) == (
        "X-Wallet-Auth: balance → 200, {}",
        "(the same 2 more times)",
        "… the node's clock right, the node's clock 60 s behind, the node's clock 301 s ahead",
        "X-Wallet-Auth: balance → 200, {}",
    )


def test_wallet_that_an_event_gave_is_named_as_what_it_is() -> None:
    registered = to_path("rpc", TOPICS_2=".result.logs[0].topics[2]")
    run = with_key("run_action", '{"jsParams":{"pkpId":"${TOPICS_2}"}}', status=403, answer=REFUSAL)
    told = steps_of(ALICE, registered, run)
    assert told[-1] == "alice: run_action jsParams {pkpId:P} → 403, not-permitted: no group lists it"


def test_address_by_which_a_wallet_was_found_in_a_list_is_its_own() -> None:
    address = "0x" + "1a" * 20
    made = with_key("create_wallet", WALLET_ADDRESS_2=".wallet_address")
    listed = with_key("list_wallets", ID_3="[.[] | select(.wallet_address == $WALLET_ADDRESS_2)][0].id")
    added = with_key("add_group", '{"pkp_ids_permitted":["${ID_3}"]}')
    found = Conversation((ALICE, made, listed, added), names={"WALLET_ADDRESS_2": address, "ID_3": HASH})
    assert story(found).names.shown(address) == "P's address"


def test_newest_grant_to_the_key_that_asks_is_told_however_much_it_did_since() -> None:
    made = with_key("add_usage_api_key", API_KEY_2=".usage_api_key")
    grant = with_key("update_usage_api_key", '{"usage_api_key":"$API_KEY_2"}')
    more = [asked("create_wallet", f'{{"name":"{n}"}}', by="API_KEY_2") for n in range(20)]
    assert "alice: update_usage_api_key usage_api_key K → 200" in steps_of(ALICE, made, *[grant] * 2, *more)


def test_renewal_of_the_certificate_is_told() -> None:
    quote = replace(asked("quote"), method="GET", operation="")
    assert "anybody: a renewal of the certificate → 200, {}" in steps_of(quote, to_path("control/rotate"), *[quote] * 3)


def sent_with(request: ConversationExchange, **headers: str) -> ConversationExchange:
    """A request with these headers, in place of its key."""
    return replace(request, request_headers={name.replace("_", "-"): value for name, value in headers.items()})


CODE = f"main() {{ {'x' * 5000} }}"
RUN_OF_CODE = with_key("run_action", json.dumps({"code": CODE}))
CUT_OFF = with_key("run_action", json.dumps({"code": f"{CODE[:-1]};"}))
KEY_MADE = asked("add_usage_api_key", API_KEY_1=".usage_api_key")
WHOLE_UPDATE = '{"usage_api_key":"${API_KEY_1}","can_create_pkps":true,"execute_in_groups":[1]}'
LABELLED = asked("update_group", '{"group_id":${GROUP_2},"name":"suite 0123456789"}')
REQUESTS = {
    "a key that no answer gave": ((LISTED,), "unknown_key: list_groups → 200, {}"),
    "the header that is not the usual one": (
        (ALICE, sent_with(LISTED, Authorization="Bearer ${API_KEY_1}")),
        "alice as Bearer: list_groups → 200, {}",
    ),
    "both keys of a request with two": (
        (ALICE, asked("new_account", API_KEY_2=".api_key"),
         sent_with(LISTED, X_Api_Key="${API_KEY_1}", Authorization="Bearer ${API_KEY_2}")),
        "bob and alice as Bearer: list_groups → 200, {}",
    ),
    "a key that the case does not have": (
        (ALICE, sent_with(LISTED, X_Api_Key="[redacted]")),
        "another X-Api-Key: list_groups → 200, {}",
    ),
    "a rare method": ((replace(asked("remove_group"), method="DELETE"),), "anybody: remove_group by DELETE → 200, {}"),
    "GET of what writes": (
        (replace(asked("create_wallet"), method="GET"),), "anybody: create_wallet by GET → 200, {}"
    ),
    "GET of a list": ((replace(asked("list_wallets"), method="GET"),), "anybody: list_wallets → 200, {}"),
    "GET of the attestation": ((replace(asked("attestation"), method="GET"),), "anybody: attestation → 200, {}"),
    "a letter with its accent": ((asked("hash", '"é"'),), 'anybody: hash "é" → 200, {}'),
    "an accent of its own": ((asked("hash", '"e\u0301"'),), 'anybody: hash "e\\u0301" → 200, {}'),
    "an escape, as it was sent": ((asked("hash", r'"\u00e9"'),), r'anybody: hash "\u00e9" → 200, {}'),
    "white space at the end": ((asked("hash", r'"main() "'),), 'anybody: hash "main() " → 200, {}'),
    "an end of a line": ((asked("hash", r'"main()\r\n"'),), r'anybody: hash "main()\r\n" → 200, {}'),
    "code by its comment": (
        (asked("run_action", json.dumps({"code": "// Signs, then\n//  asks.\nmain() {}\n// suite 0123456789\n"})),),
        'anybody: run_action code "// Signs, then asks." → 200, {}',
    ),
    "code without a comment": (
        (asked("run_action", json.dumps({"code": "main() {\n  return 1;\n}\n// suite 0123456789\n"})),),
        'anybody: run_action code "main() { return 1; }" → 200, {}',
    ),
    "code whose comment is no first line": (
        (asked("run_action", json.dumps({"code": "\r\n// one\nmain()"})),),
        r'anybody: run_action code "\r\n// one\nmain()" → 200, {}',
    ),
    "code of one line without the label behind it": (
        (asked("run_action", json.dumps({"code": "main() { return 1; } // suite 0123456789"})),),
        'anybody: run_action code "main() { return 1; }" → 200, {}',
    ),
    "code by what it has otherwise than an accepted run": (
        (ALICE, RUN_OF_CODE, ADDED, ADDED, CUT_OFF),
        'alice: run_action code as above but ";" in place of "}" at character 5010 → 200, {}',
    ),
    "a request that leaves a member out": (
        (KEY_MADE, asked("update_usage_api_key", WHOLE_UPDATE),
         asked("update_usage_api_key", WHOLE_UPDATE.replace(',"execute_in_groups":[1]', ""))),
        "anybody: update_usage_api_key usage_api_key K, can_create_pkps → 200, {}",
    ),
    "labels of the suite at the failing step": (
        (ADDED, LABELLED), 'anybody: update_group group_id G, name "suite 0123456789" → 200, {}'
    ),
}  # fmt: skip
"""By what they are: a conversation, and how its last request is told."""


@pytest.mark.parametrize("request_with", REQUESTS)
def test_last_request_is_told(request_with: str) -> None:
    exchanges, told = REQUESTS[request_with]
    assert steps_of(*exchanges)[-1] == told


def test_labels_of_the_suite_are_not_told_before_the_failing_step() -> None:
    labels = '{"name":"suite 0123456789","description":"made by a conformance case"}'
    assert steps_of(asked("add_group", labels, GROUP_2=".group_id"), LABELLED)[0] == "anybody: add_group → 200, G"


ITEM = {"name": "n" * 100, "description": "", "can_create_groups": False, "execute_in_groups": [2], "balance": 0}
EMPTY = {"execute_in_groups": [], "can_create_pkps": False, "add_pkp_to_groups": []}


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        ({"groups": [{"name": "n" * 100}] * 2}, '→ 200, {"groups":'),
        ({"groups": [{"name": "n" * 100}] * 9}, '→ 200, 9 items, {"groups":'),
        ([ITEM, {**ITEM, **EMPTY}], '"balance":0,"description":"","can_create_groups":false}'),
        ([ITEM, {**ITEM, **EMPTY}], '"balance":0,5 false or empty}'),
        ([{"empty": "", "name": "n" * 500}], '{"empty": "", "name": "nnn'),
    ],
    ids=["whole", "items counted", "few empty members", "many empty members", "cut"],
)
def test_long_answer_is_told_in_short(answer: object, part: str) -> None:
    (told,) = steps_of(asked("list_api_keys", answer=json.dumps(answer)))
    assert part in told


ENVELOPE = {"types": {"EIP712Domain": [{"name": "chainId"}]}, "primaryType": "CreateWallet",
            "domain": {"chainId": "5"}, "message": {"address": "0x12", "issuedAt": "7"}}  # fmt: skip
OTHER_TYPES = {"Other": [{"name": "issuedAt", "type": "uint256"}, {"name": "address", "type": "bytes20"}]}
SAID = 'CreateWallet {address:0x12,issuedAt:"7",chainId:"5"}'


@pytest.mark.parametrize(
    ("typed_data", "told"),
    [
        (ENVELOPE, f"typed_data {SAID}, "),
        ({**ENVELOPE, "types": OTHER_TYPES | {"EIP712Domain": [{"name": "chainId"}]}},
         f"typed_data {SAID} with types Other(issuedAt,address:bytes20), "),
        ({**ENVELOPE, "domain": {"version": "2", "chainId": "5"}}, 'chainId:"5",domain.version:"2"}'),
        (json.dumps(ENVELOPE), f"typed_data as a text of {len(json.dumps(ENVELOPE))} characters: {SAID}, "),
    ],
    ids=["as usual", "other types", "another domain", "as a text"],
)  # fmt: skip
def test_envelope_is_told_by_what_it_says(typed_data: object, told: str) -> None:
    body = json.dumps({"typed_data": typed_data, "signature": "0x"})
    assert told in steps_of(asked("create_wallet_with_signature", body))[-1]


@pytest.mark.parametrize(
    ("header", "shown"),
    [("[redacted]", "X-Wallet-Auth"), (f"{json.dumps(ENVELOPE)} [redacted]", f"X-Wallet-Auth {SAID}")],
)
def test_proof_of_a_wallet_is_told_by_what_it_says(header: str, shown: str) -> None:
    proof = sent_with(asked("balance", answer='{"balance_cents":1}'), X_Wallet_Auth=header)
    assert steps_of(proof) == (f'{shown}: balance → 200, {{"balance_cents":1}}',)


def test_story_resolves_the_names_that_it_uses() -> None:
    told = story(CONVERSATION)
    assert told.used == {"P": WALLET, "P2": OTHER}
    assert told.names.shown(f"{WALLET} of $API_KEY_7, not 0x{'12' * 32}") == "P of K, not 0x1212…1212"
    assert told.names.shown("9223372036854775808 and abcd0000000001234") == "9223372036854775808 (2^63) and abcd…1234"


def test_story_tells_that_an_answer_gives_the_same_group_again() -> None:
    removed = with_key("remove_group", '{"group_id":"${GROUP_2}"}')
    listed = with_key("list_groups", "${GROUP_2}")
    told = story(Conversation((ALICE, ADDED, removed, ADDED, listed), names={"GROUP_2": "1"}))
    assert told.steps[1:4] == (
        "alice: add_group → 200, G",
        "alice: remove_group group_id G → 200",
        "alice: add_group → 200, G again",
    )
    assert told.used == {"G": "1"}
    assert told.names.shown("1 of 11") == "1 of 11"


def test_words_that_an_answer_gives_are_told_as_they_are() -> None:
    exchanges = (asked("openapi", OPERATION_ID_1=".a"), asked("${OPERATION_ID_1}", '{"a":"${OPERATION_ID_1}"}'))
    told = story(Conversation(exchanges, names={"OPERATION_ID_1": "stripe_config"}))
    assert told.steps[0] == "anybody: openapi → 200, stripe_config"
    assert told.names.shown("GET /stripe_config") == "GET /stripe_config"
    assert told.used == {}


def test_long_story_keeps_its_beginning_and_its_end() -> None:
    renamed = [with_key("update_group", f'{{"group_id":"${{GROUP_2}}","name":"{n}"}}') for n in range(30)]
    steps = steps_of(ALICE, ADDED, *renamed)
    assert len([step for step in steps if not step.startswith("…")]) == MOST_STEPS
    assert steps[-1] == 'alice: update_group group_id G, name "29" → 200, {}'
    assert "… 22 update_group" in steps


CID, HASH = "QmQAYieaLxqyeG7YEDdmX18snVCx2kBgXB9Pt6iDYo3JKs", "0x" + "ef" * 32
LEFT_THE_OTHER_GROUP = Conversation(
    exchanges=(
        ALICE,
        ADDED,
        with_key("add_group", GROUP_3=".group_id"),
        with_key("add_action_to_group", f'{{"group_id":"${{GROUP_3}}","action_ipfs_cid":"{CID}"}}'),
        with_key("remove_action_from_group", f'{{"group_id":"${{GROUP_2}}","hashed_cid":"{hashed_cid(CID)}"}}'),
        LISTED,
        with_key("create_wallet"),
        with_key("list_actions", '{"group_id":"${GROUP_3}"}', answer="[]"),
    ),
    names={"GROUP_2": "1", "GROUP_3": "2"},
)  # fmt: skip


def test_story_tells_what_was_done_with_the_objects_that_were_expected() -> None:
    assert not [step for step in story(LEFT_THE_OTHER_GROUP).steps if "remove_action_from_group group_id" in step]
    assert story(LEFT_THE_OTHER_GROUP, f'["{hashed_cid(CID)}"] of list_actions').steps == (
        "… new_account",
        "alice: add_group → 200, G",
        "alice: add_group → 200, G2",
        "alice: add_action_to_group group_id G2, action_ipfs_cid X → 200",
        "alice: remove_action_from_group group_id G, hashed_cid X → 200",
        "alice: list_groups → 200, {}",
        "alice: create_wallet → 200",
        "alice: list_actions group_id G2 → 200, []",
    )


def test_story_tells_which_request_sent_the_text_that_was_expected() -> None:
    updated = with_key("update_group", '{"group_id":"${GROUP_2}","name":"the new name"}')
    others = LISTED, with_key("add_group"), asked("list_wallets")
    told = Conversation((ALICE, ADDED, *others[:1], updated, *others))
    assert 'alice: update_group group_id G, name "the new name" → 200' in story(told, '{"name":"the new name"}').steps
    assert not [step for step in story(told, '{"group_id":"another name"}').steps if "update_group group_id" in step]
    often = Conversation((ALICE, ADDED, updated, updated, *others))
    assert not [step for step in story(often, '{"name":"the new name"}').steps if "update_group group_id" in step]


def test_story_tells_which_requests_were_answered_with_an_address_that_has_no_name() -> None:
    answers = ["ab", "cd", "ef", "AB", "12", "34"]
    made = [with_key("create_wallet", answer=f'{{"wallet_address":"0x{each * 20}"}}') for each in answers]
    told = Conversation((ALICE, *made))
    assert story(told, f"6 different addresses 0x{'ab' * 20}, 2 times").steps == (
        "anybody: new_account → 200, alice",
        'alice: create_wallet → 200, {"wallet_address":"0xabab…abab"}',
        "… 2 create_wallet",
        'alice: create_wallet → 200, {"wallet_address":"0xABAB…ABAB"}',
        "… create_wallet",
        'alice: create_wallet → 200, {"wallet_address":"0x3434…3434"}',
    )
    assert story(told, f"the address 0x{'cd' * 20}").steps[1:-1] == (
        "… create_wallet",
        'alice: create_wallet → 200, {"wallet_address":"0xcdcd…cdcd"}',
        "… 3 create_wallet",
    )


def test_action_and_its_hash_have_one_name() -> None:
    told = story(LEFT_THE_OTHER_GROUP, f'["{hashed_cid(CID)}"] of list_actions')
    assert told.names.shown(f"{CID} and {hashed_cid(CID)}, not {HASH}") == "X and X, not 0xefef…efef"


def test_run_is_told_by_the_action_whose_code_it_sends() -> None:
    code = "async function main() {}"
    cid = code_cid(code, "ipfs_add_v0") or ""
    made = asked("new_account", '{"d":"bob of a conformance case"}', API_KEY_1=".api_key")
    listed = with_key("add_group", f'{{"cid_hashes_permitted":["{hashed_cid(cid)}"]}}')
    run = with_key("run_action", f'{{"code":"{code}"}}', status=403, answer=REFUSAL)
    assert steps_of(made, listed, run) == (
        "… new_account",
        "bob: add_group cid_hashes_permitted [X] → 200",
        f'bob: run_action X, code "{code}" → 403, not-permitted: no group lists it',
    )


def test_newest_write_is_told_whatever_it_is_about() -> None:
    removed = with_key("remove_group", '{"group_id":"7"}')
    refused = with_key("remove_group", '{"group_id":"8"}', status=404, answer=REFUSAL)
    last = with_key("run_action", '{"jsParams":"${ID_2}"}')
    assert steps_of(ALICE, removed, LISTED, refused, LISTED, LISTED, last)[-5:] == (
        'alice: remove_group group_id "7" → 200',
        "alice: list_groups → 200, {}",
        'alice: remove_group group_id "8" → 404, not-permitted: no group lists it',
        "… 2 list_groups",
        "alice: run_action jsParams id_2 → 200, {}",
    )


def test_same_request_is_told_with_what_it_was_answered_before() -> None:
    read = with_key("list_actions", answer='["x"]')
    write = with_key("remove_action_from_group", '{"group_id":"7"}')
    last = replace(read, response_body="[]")
    assert steps_of(ALICE, LISTED, LISTED, read, LISTED, LISTED, write, last) == (
        "anybody: new_account → 200, alice",
        "… 2 list_groups",
        'alice: list_actions → 200, ["x"]',
        "… 2 list_groups",
        'alice: remove_action_from_group group_id "7" → 200',
        "alice: list_actions → 200, []",
    )


def test_what_is_as_in_an_earlier_step_of_the_same_operation_is_not_told_again() -> None:
    update = '{"usage_api_key":"${API_KEY_1}","can_create_pkps":true,"execute_in_groups":[%s]}'
    run = with_key("run_action", '{"code":"x","jsParams":{"a":1}}', status=403, answer=LONG_REFUSAL)
    updates = [asked("update_usage_api_key", update % groups) for groups in ("1", "0")]
    assert steps_of(KEY_MADE, updates[0], run, updates[1], run)[1:] == (
        "anybody: update_usage_api_key usage_api_key K, can_create_pkps, execute_in_groups [1] → 200",
        f'K: run_action code "x", jsParams {{a:1}} → 403, {LONG_REFUSAL}',
        "anybody: update_usage_api_key execute_in_groups [0], else as above → 200",
        "K: run_action as above → 403, as above, as before update_usage_api_key",
    )


def test_answer_that_a_write_left_as_it_was_is_told_as_such() -> None:
    read = with_key("list_actions", answer='["x"]')
    write = with_key("remove_action_from_group", '{"group_id":"7"}')
    refused = replace(write, status=403, response_body=REFUSAL)
    for between, added in ((write, ", as before remove_action_from_group"), (refused, "")):
        assert steps_of(ALICE, read, between, read)[-1] == f'alice: list_actions → 200, ["x"]{added}'
    other = replace(read, response_body="[]")
    assert steps_of(ALICE, read, other, write, read)[-1] == 'alice: list_actions → 200, ["x"]'


def test_same_request_of_a_wallet_is_told_with_what_it_was_answered_before() -> None:
    proofs = [f'{{"message":{{"address":"0x12","issuedAt":"{at}"}}}} [redacted]' for at in (7, 8)]
    first, last = (
        replace(asked("balance", answer=answer), request_headers={"X-Wallet-Auth": proof})
        for proof, answer in zip(proofs, ("[1]", "[2]"), strict=True)
    )
    assert steps_of(first, LISTED, with_key("list_wallets"), last) == (
        "X-Wallet-Auth: balance → 200, [1]",
        "… list_groups, list_wallets",
        "X-Wallet-Auth: balance → 200, [2]",
    )


def test_same_request_of_another_caller_is_told_where_it_ended_otherwise() -> None:
    made = [ALICE, with_key("add_usage_api_key", API_KEY_2=".key")]
    refused = asked("run_action", '{"code":"1"}', by="API_KEY_2", status=403, answer=REFUSAL)
    last = with_key("run_action", '{"code":"1"}')
    assert steps_of(*made, LISTED, LISTED, refused, LISTED, LISTED, last)[-3:] == (
        'K: run_action code "1" → 403, not-permitted: no group lists it',
        "… 2 list_groups",
        'alice: run_action code "1" → 200, {}',
    )


def test_other_pages_of_the_same_list_are_told() -> None:
    pages = [
        replace(with_key("list_groups", answer=f"[{n}]"), url=f"http://x/l?page_number={n}&page_size=1")
        for n in range(4)
    ]
    others = [with_key("list_actions")] * 2
    told = steps_of(ALICE, *pages[:2], *others, *pages[2:])
    assert told[1:4] == (
        "alice: list_groups → 200, [0]",
        'alice: list_groups page_number "1", page_size "1" → 200, [1]',
        "… 2 list_actions",
    )
    assert told[4].startswith('alice: list_groups page_number "2"')


def test_requests_at_once_and_restarts_are_marked() -> None:
    together = [replace(with_key("add_action", '{"name":"a"}'), at_once=True) for _ in range(3)]
    after = replace(with_key("list_actions", answer="[]"), restarted=True)
    assert steps_of(ALICE, *together, after) == (
        "anybody: new_account → 200, alice",
        "… 2 add_action at once",
        'alice, at once with others: add_action name "a" → 200',
        "(the node is restarted)",
        "alice: list_actions → 200, []",
    )


def test_restart_stands_between_what_was_asked_before_and_after_it() -> None:
    reads = [LISTED, replace(with_key("list_wallets"), restarted=True)]
    told = steps_of(ALICE, *reads, *reads, with_key("list_actions", answer="[]"))
    assert told[1:-1] == (
        "… list_groups",
        "(the node is restarted)",
        "… list_wallets, list_groups",
        "(the node is restarted)",
        "… list_wallets",
    )


def test_ids_of_a_request_that_was_not_sent_are_given_by_the_one_before_it() -> None:
    makes = with_key("create_wallet", ADDRESS_2=".wallet_address")
    read = replace(with_key("list_wallets", ID_3=".[] | select(.a == $ADDRESS_2).id"), not_sent=True, status=None)
    put = with_key("add_group", '{"pkp_ids_permitted":["${ID_3}"]}')
    steps = story(Conversation((makes, read, put), departed=2, names={"ID_3": WALLET})).steps
    assert [step.partition(": ")[2] for step in steps] == [
        "create_wallet → 200, P",
        "add_group pkp_ids_permitted [P] → 200, {}",
    ]


def test_folded_steps_say_that_their_key_was_sent_as_bearer() -> None:
    reads = [with_key(name) for name in ("list_groups", "list_actions", "list_api_keys")]
    by_bearer = [replace(one, request_headers={"Authorization": "Bearer ${API_KEY_1}"}) for one in reads]
    assert "… list_groups, list_actions as Bearer" in steps_of(ALICE, *by_bearer)


def test_requests_of_the_same_operation_are_told_where_nothing_else_is() -> None:
    codes = [asked("get_action_ipfs_id", json.dumps(f"async function main() {{ return {n} }}")) for n in (1, 2)]
    assert steps_of(*codes, codes[0]) == (
        'anybody: get_action_ipfs_id "async function main() { return 1 }" → 200, {}',
        'anybody: get_action_ipfs_id "async function main() { return 2 }" → 200, {}',
        'anybody: get_action_ipfs_id "async function main() { return 1 }" → 200, {}',
    )


def test_address_that_a_list_gives_with_an_id_is_called_by_its_name() -> None:
    address = f"0x{'Ab' * 20}"
    listed = json.dumps([{"id": WALLET, "wallet_address": address}])
    reads = asked("list_wallets", answer=listed, ID_1=".[0].id")
    told = story(Conversation((reads, asked("run_action", '"${ID_1}"')), names={"ID_1": WALLET}))
    assert told.names.shown(f"{address} and {address.lower()}") == "P's address and P's address in small letters"


def test_wallets_that_are_only_listed_have_names_too() -> None:
    made = [{"id": f"0x{each * 32}", "address": f"0x{each * 20}"} for each in ("ab", "cd")]
    makes = [asked("create_wallet", answer=written({"address": one["address"]})) for one in made]
    told = story(Conversation((*makes, asked("list_wallets", answer=written(made)))), written(made))
    listed = """[{"id":"P","address":"P's address"},{"id":"P2","address":"P2's address"}]"""
    assert told.steps == (
        """anybody: create_wallet → 200, {"address":"P's address"}""",
        """anybody: create_wallet → 200, {"address":"P2's address"}""",
        f"anybody: list_wallets → 200, {listed}",
    )


def test_address_that_came_with_the_key_of_an_account_is_called_its_wallet() -> None:
    wallet = "0x" + "Ab" * 20
    made = asked("new_account", answer=f'{{"wallet_address":"{wallet}"}}', WALLET_ADDRESS_1=".w", API_KEY_2=".api_key")
    told = story(Conversation((made, asked("list_groups", by="API_KEY_2", answer=f'["{wallet}"]'))))
    assert told.steps[-1] == 'alice: list_groups → 200, ["alice\'s wallet"]'
    assert told.names.shown(wallet.lower()) == "alice's wallet in small letters"


def test_requests_to_the_chain_are_told_by_their_methods() -> None:
    batch = [{"jsonrpc": "2.0", "id": 1, "method": name, "params": []} for name in ("eth_call", "eth_chainId")]
    asks = replace(to_path("rpc", json.dumps(batch)), response_body="[]")
    assert steps_of(asks, asks, asks) == (
        "… 2 eth_call and eth_chainId",
        "anybody: eth_call and eth_chainId → 200, []",
    )


def test_calls_of_the_contract_are_told_in_names() -> None:
    carol, account = f"0x{'Ca' * 20}", f"0x{'12' * 32}"
    call = ContractCall(carol, "addGroup", {"keyHash": account, "pkpIds": [], "name": "g"}, "mined", is_write=True)
    sends = replace(asked("", '{"jsonrpc": "2.0", "method": "eth_sendRawTransaction"}'), contract=call)
    view = ContractCall("", "getAccount", {"accountHash": account}, f'{{"admin":"{carol.lower()}"}}')
    names = {"carol's wallet": carol, "$API_KEY_1's account": account, "$API_KEY_1's hash": account}
    asks = replace(asked("", '{"jsonrpc": "2.0", "method": "eth_call"}'), contract=view)
    assert story(Conversation((ALICE, sends, asks, asks), names=names)).steps == (
        "anybody: new_account → 200, alice",
        "carol's wallet: addGroup keyHash alice's account, name \"g\", pkpIds [] → mined",
        "… getAccount",
        'anybody: getAccount accountHash alice\'s account → {"admin":"carol\'s wallet in small letters"}',
    )


def test_transaction_concerns_the_key_whose_hash_it_holds() -> None:
    attached = ContractCall("0x1", "setUsageApiKey", {"usageApiKeyHash": HASH}, "mined", is_write=True)
    other = replace(attached, arguments={"usageApiKeyHash": OTHER})
    minted = asked("add_usage_api_key_with_signature", API_KEY_1=".usage_api_key")
    sent = [replace(asked("", f"[{at}]"), contract=call) for at, call in enumerate((other, attached, other))]
    last = with_key("list_groups", status=401)
    told = story(Conversation((minted, *sent, last), names={"$API_KEY_1's hash": HASH})).steps
    assert told[1:4] == (
        "… setUsageApiKey",
        "0x1: setUsageApiKey usageApiKeyHash K's hash → mined",
        "0x1: setUsageApiKey usageApiKeyHash 0xcdcd…cdcd → mined",
    )


def test_conversion_belongs_to_every_story_of_its_account_and_repeats_are_counted() -> None:
    converted = with_key("convert_to_chain_secured_account")
    added = with_key("add_group", '{"name":"g"}', GROUP_2=".group_id")
    confirmed = with_key("update_group", '{"group_id":"${GROUP_2}"}')
    last = with_key("remove_group", '{"group_id":"${GROUP_2}"}')
    assert steps_of(ALICE, converted, added, confirmed, confirmed, confirmed, last)[1:] == (
        "alice: convert_to_chain_secured_account → 200",
        'alice: add_group name "g" → 200, G',
        "… 2 update_group",
        "alice: update_group group_id G → 200",
        "alice: remove_group group_id G → 200, {}",
    )


def test_problem_documents_are_told_by_what_they_say() -> None:
    got = f'status 403: {REFUSAL} and status 500: {{"a": 1}}; status 403: {REFUSAL}'
    assert in_short(got) == (
        "status 403, not-permitted: no group lists it and"
        ' status 500: {"a": 1}; status 403, not-permitted: no group lists it'
    )
    assert in_short("status 403: {cut off…") == "status 403: {cut off…"
    deep = 'status 403: {"a":' + "[" * 2_900
    assert in_short(deep) == deep
    cut_off = 'status 403: {"title": "Forbidden", "detail": "no group of this acc'
    assert in_short(cut_off) == "status 403, no group of this acc…"


@pytest.mark.parametrize(
    ("expected", "got", "rows"),
    [
        ('ids to be ["a","b"]', '["b","c"]', [("missing", '["a"]'), ("too many", '["c"]')]),
        ('ids to be ["a","b"]', '["b","a"]', [("order", 'another: ["b","a"]')]),
        ("what runs with ['K'] and [0] to be [\"a\"]", '["a","b"]', [("too many", '["b"]')]),
        ('ids to be ["a"]', '["a","a"]', [("too many", '["a"]')]),
        ('ids to be ["a",null]', "[null,null]", [("missing", '["a"]'), ("too many", "[null]")]),
        ("list_groups as before the request: [1]", "[1,2]", [("too many", "[2]")]),
        ('ids to be ["a"] or ["b"]', '["c"]', []),
        ("length 1 of ids", "[]", []),
        ('ids to be ["a"]', "status 404", []),
        ('name to be "a"', '["a"]', []),
        ('the key to be {"a":[3],"b":1}', '{"b":1,"a":[],"c":0}', [("differs", "a is [], not [3]")]),
        ("{a: 1, b: {c: 2}} of the key", '{"b":{}}', [("differs", "a is nothing, not 1; b.c is nothing, not 2")]),
        (
            'the lists to be {"keys":[{"id":1,"may":[0]},{"id":2}]}',
            '{"keys":[{"id":1,"may":[]},{"id":2}]}',
            [("differs", "keys[0].may is [], not [0]")],
        ),
        ('the key to be {"a":1}', '{"a":1,"b":2}', []),
        ('exactly {"a":1} of get_account', '{"a":2}', [("differs", "a is 2, not 1")]),
        ("in any order [1, 2] at *.id of `seen`", "[1,2,3]", [("too many", "[3]")]),
        ("a group that is left stays: [1] of list_groups", "[1,2]", [("too many", "[2]")]),
        ("in any order [true] of list_groups", "[1]", [("missing", "[true]"), ("too many", "[1]")]),
        (
            'in any order [{cid: "x", name: "anew"}, {cid: "y"}] of list_actions',
            '[{"cid":"y","name":"other"},{"cid":"x","name":"old"}]',
            [("differs", 'in the item with cid "x": name is "old", not "anew"')],
        ),
    ],
)
def test_difference_of_values(expected: str, got: str, rows: list[tuple[str, str]]) -> None:
    assert list(difference(expected, got)) == rows


def test_report_of_a_case_fits_on_a_screen() -> None:
    failure = Failure("steps[3]", f"the wallet {WALLET}", f"[{OTHER!r}]" * 100, conversation=CONVERSATION)
    requirements = tuple(f"GRP-{number}0" for number in range(10, 30))
    text = explain(Outcome("p::c", "A title.", requirements, Verdict.FAIL, failure=failure), "again")
    assert len(text.splitlines()) <= 25
    assert "the wallet P\n" in text
    assert "and GRP-130, GRP-140" in text
    assert max(map(len, text.splitlines())) < 450


def test_long_story_leaves_steps_out_so_that_the_report_fits_on_a_screen() -> None:
    writes = [with_key(f"update_{n}", '{"group_id":"${GROUP_2}"}') for n in range(20)]
    reads = [with_key(f"list_{n}") for n in range(20)]
    between = [one for both in zip(writes, reads, strict=True) for one in both]
    conversation = Conversation((ALICE, ADDED, *between, writes[-1]), names={"GROUP_2": "1"})
    failure = Failure("steps[3]", "a group", "[]", EXCHANGE, conversation=conversation)
    lines = explain(Outcome("p::c", "A title.", ("A-010",) * 4, Verdict.FAIL, failure=failure), "again").splitlines()
    assert len(lines) <= MOST_LINES
    assert lines[-1] == "  again: again"
    assert len([line for line in lines if line.startswith("  alice: ")]) > LEAST_STEPS


def test_a_step_that_is_cut_begins_with_what_the_failure_names() -> None:
    members = {f"member_{number}": [*range(10)] for number in range(12)}
    updated = with_key("update_group", json.dumps({**members, "execute_in_groups": [7]}))
    *_, last = story(Conversation((ALICE, updated)), "execute_in_groups with the new group").steps
    assert last.startswith("alice: update_group execute_in_groups [7], member_0 [")
