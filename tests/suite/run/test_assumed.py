"""Departures after a case relied on what the profile does not state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest
from tiny_node import Asked, Fault, TinyNode, Told, always

from conformance.endpoints.client import Target
from conformance.profile import Profile, resolve
from conformance.profile.load import stated_by_vendor
from conformance.run.assumed import hint
from conformance.run.explaining import Departed, explaining
from conformance.run.runner import Case, run_case
from conformance.verdict import Exchange, Outcome, Verdict

Run = Callable[[str], Outcome]
GROUP_IN_LIST = """\
    setup: [{account: alice}, {call: add_group, with: {group_name: g, group_description: d}}]
    steps: [{list: list_groups, expect: {"": [{name: g}]}}]
    """
OF_ANOTHER_NAME = always(200, [{"id": 1, "title": "g"}])
"""The name of a listed group is called otherwise."""
BASE_URL = {"base_url": "http://127.0.0.1:1"}


@pytest.fixture
def target(node: TinyNode, monkeypatch: pytest.MonkeyPatch) -> Iterator[Target]:
    monkeypatch.setattr("conformance.run.assumed.SETTLING_SECONDS", 0.01)
    with Target(node.url, stated_by_vendor(Profile.model_validate(BASE_URL)), seed="7") as made:
        yield made


def answered(status: int, answer: str, sent: str = "{}") -> Exchange:
    return Exchange("POST", "http://n/x", {}, sent, status, {}, answer, 0.1, "curl")


def test_departure_from_an_assumed_value_is_inconclusive_and_names_the_key(run: Run, node: TinyNode) -> None:
    node.faults["list_groups"] = OF_ANOTHER_NAME

    outcome = run(GROUP_IN_LIST)

    assert (outcome.verdict, outcome.properties["problem"]) == (Verdict.INCONCLUSIVE, "assumed")
    assert outcome.assumed["wire.list_groups.item_fields.name"] == "name"
    assert 'wire.list_groups.item_fields.name: "name"' in outcome.reason
    assert "state what your node does in its profile" in outcome.reason


def test_departure_from_a_stated_value_is_a_failure(cases_of: Callable[[str], list[Case]], node: TinyNode) -> None:
    node.faults["list_groups"] = OF_ANOTHER_NAME
    stated = Profile.model_validate({"extends": "reference", **BASE_URL})
    (case,) = cases_of(GROUP_IN_LIST)

    with Target(node.url, stated_by_vendor(stated), seed="7") as target:
        outcome = run_case(case, target)

    assert outcome.verdict is Verdict.FAIL
    assert outcome.assumed == {}


def test_member_that_an_answer_has_bears_out_its_name(run: Run, node: TinyNode, target: Target) -> None:
    assert run(GROUP_IN_LIST).verdict is Verdict.PASS
    assert {"wire.list_groups.item_fields.name", "wire.mutating_responses.group_id"} <= target.borne_out

    node.faults["list_groups"] = always(200, ([{"id": 1, "name": "another", "description": "d"}]))
    outcome = run(GROUP_IN_LIST)

    assert "wire.list_groups.item_fields.name" not in outcome.assumed


def test_departure_that_only_time_could_excuse_is_a_failure_when_it_comes_all_the_same(
    run: Run, target: Target
) -> None:
    body = "steps: [{account: alice}, {list: list_groups, expect: {'': [{name: g}]}}]"
    target.borne_out.update(target.profile.assumed - {"semantics.settle_time_seconds"})

    outcome = run(body)

    assert outcome.verdict is Verdict.FAIL, outcome.reason
    assert outcome.properties["problem"] == "mismatch"
    assert "settle" not in outcome.reason


def test_status_that_nobody_stated_is_no_failure_and_an_acceptance_is(run: Run, node: TinyNode, target: Target) -> None:
    target.borne_out.update(key for key in target.profile.assumed if not key.startswith("errors."))
    body = """\
        setup: [{account: alice}]
        steps:
          - {call: add_group, id: adds, with: {group_name: g}}
          - call: add_group
            as: nobody
            refused: unauthenticated
            control: adds
            unchanged: [list_groups]
        """
    node.faults["add_group"] = lambda asked: node.honest(asked) if asked.key else Told(403)
    assert list(run(body).assumed) == ["errors.status_codes.unauthenticated"]

    node.faults["add_group"] = lambda asked: node.honest(asked) if asked.key else Told(body={"success": True})
    assert run(body).verdict is Verdict.FAIL


def test_answer_that_is_assumed_to_be_the_whole_is_no_failure_where_a_member_holds_it(run: Run, node: TinyNode) -> None:
    node.faults["get_admin_api_payer"] = always(200, {"payer": "0x"})

    outcome = run("steps: [{call: get_admin_api_payer, expect: {address: '0x'}}]")

    assert next(iter(outcome.assumed)) == "wire.chain_info.admin_api_payer_member"


def test_refused_list_hangs_on_its_page_and_on_no_member_of_an_answer(run: Run, node: TinyNode) -> None:
    node.faults["list_groups"] = always(422, {"code": "page-number"})

    outcome = run("steps: [{account: alice}, {list: list_groups, expect: {'': []}}]")

    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert next(iter(outcome.assumed)) in {"wire.paging.first_page_number", "limits.page_size_max"}
    assert not [key for key in outcome.assumed if key.startswith(("wire.list_groups.", "wire.paging.container."))]


def test_empty_page_hangs_on_its_number_and_on_no_member_of_an_item(run: Run, node: TinyNode) -> None:
    node.faults["list_groups"] = always(200, [])

    outcome = run(GROUP_IN_LIST)

    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert next(iter(outcome.assumed)) == "wire.paging.first_page_number"
    assert "wire.list_groups.item_fields.name" not in outcome.assumed


CONVERSION = """
@case("conversion", requirements=["GRP-010"])
def conversion(judge: Judge, node: Node) -> None:
    'An account is given to a wallet.'
    with judge():
        node.accounts.convert(node.accounts.new().key, node.wallets.new("carol"))
"""


def test_refused_conversion_hangs_on_the_form_of_its_envelope_and_not_on_the_answer(
    run_python: Run, node: TinyNode
) -> None:
    node.faults["convert_to_chain_secured_account"] = always(400, {"code": "typed-data"})

    outcome = run_python(CONVERSION)

    assert outcome.verdict is Verdict.INCONCLUSIVE, outcome.reason
    assert "wire.typed_data.form" in outcome.assumed
    assert "wire.convert.response.success" not in outcome.assumed


SPENT_BEHIND = f"{CONVERSION}        node.groups.add(node.accounts.new().key)\n"
"""The same, and a write that finds no credit afterwards."""


def test_account_without_credit_after_its_conversion_hangs_on_where_its_credit_is(
    run_python: Run, node: TinyNode
) -> None:
    node.faults["convert_to_chain_secured_account"] = always(200, {"success": True})
    node.faults["add_group"] = always(402, {"code": "insufficient-credits"})

    outcome = run_python(SPENT_BEHIND)

    assert outcome.explains == "billing.credits_after_conversion", outcome.reason
    assert outcome.assumed == {"billing.credits_after_conversion": "moved"}


def test_blocked_case_hangs_on_the_choice_that_it_is_for(run: Run, node: TinyNode) -> None:
    node.faults["add_group"] = always(409, {"code": "in-use"})

    outcome = run("""\
        uses: [{mode.admin_address_reuse: accepted}]
        setup: [{account: alice}, {call: add_group, with: {group_name: g}}]
        steps: [{list: list_groups, expect: {'': []}}]
        """)

    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert outcome.explains == "mode.admin_address_reuse", outcome.reason


RUN_THAT_FAILS = """
from conformance.service.runs import must_fail

@case("blocked", requirements=["EXEC-340"], uses=["exec.failure_and_limits"])
def blocked(judge: Judge, node: Node) -> None:
    'A run that fails comes before what the case is about.'
    must_fail(node.session.send(node.groups.creation(node.accounts.new().key)), node.session.profile)
    with judge():
        pass
"""
RUN_FAILED = always(422, {"response": None, "logs": "", "failed": True})
CONTROL = """
from conformance.service import Refusals

@case("controlled", requirements=["MODE-140"])
def controlled(judge: Judge, node: Node) -> None:
    'A conversion without a signature is refused, and one with it is not.'
    alice, carol = node.accounts.new(), node.wallets.new("carol")

    def control() -> None:
        answer, _ = node.session.accept(node.accounts.conversion(alice.key, carol))
        judge.that("success" in answer.text, "an answer with success", answer.text)

    with judge(), Refusals(node.session, control=control, unchanged=[]) as refusals:
        refusals.send(node.session.request("list_groups", "nobody"), ["any"])
"""
OTHER_MEMBER = always(200, {"converted": True})
REFUSED_LIST = """
from conformance.service import must_refuse

@case("refused", requirements=["AUTH-050"])
def refused(judge: Judge, node: Node) -> None:
    'A list with the key of nobody is refused.'
    lists = node.session.accept(node.session.request("list_groups", node.accounts.new().key))[1]
    with judge():
        request = node.session.request("list_groups", "nobody")
        must_refuse(node.session, request, ["unauthenticated"], control=lists, unchanged=[])
"""


def refused_to_nobody(asked: Asked) -> Told:
    """The page of a list, refused to the key of nobody alone."""
    return Told(403, {"code": "unknown-key"}) if asked.key == "nobody" else Told(200, [{"id": 1, "name": "g"}])


@pytest.mark.parametrize(
    ("pack", "faults", "key"),
    [
        (RUN_THAT_FAILS, {"add_group": RUN_FAILED}, "exec.failure_and_limits.status"),
        (
            CONTROL,
            {"convert_to_chain_secured_account": OTHER_MEMBER, "list_groups": always(401, {"code": "unknown-key"})},
            "wire.convert.response.success",
        ),
        (REFUSED_LIST, {"list_groups": refused_to_nobody}, "errors.status_codes.unauthenticated"),
    ],
    ids=["choice that the case names", "member of the control's answer", "refusal, and no earlier page"],
)
def test_departure_hangs_on_what_explains_it(
    run_python: Run, node: TinyNode, pack: str, faults: dict[str, Fault], key: str
) -> None:
    node.faults |= faults

    outcome = run_python(pack)

    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert outcome.explains == key, outcome.reason


ASSUMED = {
    "exec.pkp_selection.swallowed_refusal": "rethrown",
    "wire.typed_data.form": ["object", "string"],
    "wire.mutating_responses.success": "success",
    "brand.title": "Service",
    "errors.status_codes.forbidden": 403,
}
TITLED = '{"typed_data":{"domain":{"name":"Service ChainSecured"}},"signature":"0x"}'
IN_A_STRING = '{"typed_data":"{\\"domain\\":{\\"name\\":\\"Service ChainSecured\\"}}"}'


@pytest.mark.parametrize(
    ("expected", "sent", "status", "answer", "key"),
    [
        ("acceptance", TITLED, 400, "domain.name has to be 'Zebra ChainSecured'", "brand.title"),
        ("acceptance", IN_A_STRING, 400, "domain.name has to be 'Zebra ChainSecured'", "brand.title"),
        ("a run", "{}", 200, '{"error":"ReferenceError: Service is not defined"}', "brand.title"),
        ("success of add_action to be true", "{}", 200, '{"done":true}', "wire.mutating_responses.success"),
        ("success of add_action to be true", "{}", 200, "{}", "wire.mutating_responses.success"),
        ("success of add_action to be true", "{}", 200, '{"success":false}', ""),
        ("a refusal (forbidden: 403)", "{}", 401, "{}", "errors.status_codes.forbidden"),
        ("a refusal (forbidden: 403)", "{}", 500, "{}", ""),
        ("acceptance", TITLED, 400, "not now", ""),
        ("the balance to be 1", "{}", 200, '{"cents":1}', ""),
        ("the balance to be 1", "{}", 200, '{"items":[{"id":1}]}', "wire.list_items.fields.usage_key.balance"),
        ("acceptance", TITLED, 403, "this is a ChainSecured account already", ""),
        ("no more than 16 cents", "{}", 200, '{"balance_cents":17}', ""),
    ],
)
def test_key_is_named_whose_other_value_explains_what_came(
    expected: str, sent: str, status: int, answer: str, key: str
) -> None:
    members = {"wire.billing.fields.balance_form": "cents", "wire.list_items.fields.usage_key.balance": "balance"}
    assert explaining(ASSUMED | members, Departed(expected, answered(status, answer, sent))) == key


@pytest.mark.parametrize(
    ("operation", "expected", "exchange", "key"),
    [
        ("account_exists", "true", answered(200, '{"exists":true}'), "account_exists.request_response.answer_member"),
        ("account_exists", "true", answered(200, "false"), ""),
        ("account_exists", "acceptance (2xx)", answered(401, "{}"), "account_exists.request_response.unknown_key"),
        ("get_api_payers", "a list", answered(200, '{"payers":[]}'), "chain_info.api_payers_member"),
        ("list_wallets", "a list", answered(200, '{"items":[]}'), "paging.container.form"),
        ("create_wallet", "acceptance (2xx)", answered(405, "{}"), "operations.method_and_path.create_wallet"),
        ("create_wallet", "a refusal (forbidden: 403)", answered(404, "{}"), ""),
        ("list_wallets", "acceptance (2xx)", answered(422, "{}"), ""),
        ("list_api_keys", "[2]", answered(200, '[{"execute_in_groups": ["2"]}]'), "list_items.group_ids_form"),
        ("list_api_keys", "[2]", answered(200, '[{"execute_in_groups": [2]}]'), ""),
        (
            "list_api_keys",
            "execute_in_groups with it",
            answered(200, '[{"may": {"execute_in_groups": [2]}}]'),
            "list_items.fields.usage_key.execute_in_groups",
        ),
        (
            "new_account",
            "acceptance (2xx)",
            answered(422, "account_name: Field required", '{"account_name":"a"}'),
            "new_account.fields.account_name",
        ),
        (
            "new_account",
            "acceptance (2xx)",
            answered(400, 'Unknown member "account_name"', '{"account_name":"a"}'),
            "new_account.fields.account_name",
        ),
        ("new_account", "acceptance (2xx)", answered(422, "account_name: too short", '{"account_name":"a"}'), ""),
        ("new_account", "acceptance (2xx)", answered(500, "account_name required", '{"account_name":"a"}'), ""),
    ],
)
def test_key_of_the_called_operation_explains_what_its_other_value_would_give(
    operation: str, expected: str, exchange: Exchange, key: str
) -> None:
    called = resolve(Profile(), operation)
    read = {"wire.account_exists.request_response.unknown_key": "answers_false", **called.keys}
    assert explaining(read, Departed(expected, exchange, called)) == (key and f"wire.{key}")


def test_price_explains_another_balance() -> None:
    called = resolve(Profile(), "balance")
    keys = {"exec.failure_and_limits.timeout_seconds": 30, "billing.charge_per_call.run_second_cents": 1}
    departed = Departed("a balance of at least 9", answered(200, '{"balance_cents": 8}'), called)
    assert explaining(keys, departed) == "billing.charge_per_call.run_second_cents"


def test_member_that_is_told_not_to_be_there_is_that_of_the_listed_items() -> None:
    called = resolve(Profile(), "list_groups")
    keys = {"wire.list_items.fields.wallet.description": "description", **called.keys}
    exchange = answered(200, '{"items": [{"id": 1, "label": "a", "description": "d"}]}')
    got = 'the labels {"name": "nothing (the member is not there)"}'
    departed = Departed("the group of the account", exchange, called, got=got)
    assert explaining(keys, departed) == "wire.list_groups.item_fields.name"


@pytest.mark.parametrize(
    ("expected", "exchange", "left_open", "key"),
    [
        ("a refusal (conflict: 409)", answered(200, "{}"), (), "semantics.group_membership_idempotence.add_present"),
        ("a refusal (forbidden: 403)", answered(200, "{}"), (), ""),
        ("a run that fails: status 200", answered(422, "{}"), (), "exec.failure_and_limits.status"),
        ('exactly {"a":1}', answered(200, '{"response":"{\\"a\\": 1}"}'), (), "exec.response_form"),
        ("its own wallet to be listed", answered(200, "[]"), ["semantics.account_wallet_listed"],
         "semantics.account_wallet_listed"),
        ("its own wallet to be listed", answered(200, "[]"), (), ""),
        ("a refusal (unauthenticated: 401)", answered(403, "{}"), ["mode.old_master_key_reads"],
         "mode.old_master_key_reads"),
        ("a refusal (unauthenticated: 401)", answered(403, "{}"), (), "errors.status_codes.unauthenticated"),
    ],
)  # fmt: skip
def test_choice_explains_what_its_other_value_would_give(
    expected: str, exchange: Exchange, left_open: Sequence[str], key: str
) -> None:
    keys = {
        "semantics.group_membership_idempotence.add_present": "conflict",
        "exec.failure_and_limits.status": 200,
        "wire.group.cid_wildcard_form": [0],
        "exec.response_form": "value",
        "semantics.account_wallet_listed": False,
        "errors.status_codes.unauthenticated": [401],
        "mode.old_master_key_reads": "unauthenticated",
    }
    assert explaining(keys, Departed(expected, exchange, None, left_open)) == key


CREDIT, REUSE = "billing.credits_after_conversion", "mode.admin_address_reuse"


@pytest.mark.parametrize(
    ("expected", "status", "made_for", "key"),
    [
        ("acceptance (2xx)", 409, [CREDIT, REUSE], REUSE),
        ("acceptance (2xx)", 500, [CREDIT, REUSE], ""),
        ("a balance above 7", 200, [CREDIT, REUSE], ""),
        ("a balance above 7", 200, [CREDIT], CREDIT),
        ("a balance above 7", 200, [], ""),
    ],
    ids=["refusal", "server fault", "which of two is unclear", "the only one", "none"],
)
def test_choice_that_the_case_is_for_explains_a_refusal_and_the_only_one_what_no_rule_does(
    expected: str, status: int, made_for: Sequence[str], key: str
) -> None:
    keys = {"wire.billing.fields.balance_form": "cents", CREDIT: "moved", REUSE: "accepted"}
    assert explaining(keys, Departed(expected, answered(status, "{}"), made_for=made_for)) == key


def test_answer_that_is_taken_for_the_whole_is_said_to_be_it(run: Run, node: TinyNode) -> None:
    node.faults["account_exists"] = always(200, {"exists": True})

    outcome = run("steps: [{account: alice}, {call: account_exists, expect: {exists: true}}]")

    assert outcome.failure is not None
    assert outcome.failure.expected == "true of account_exists, whose whole answer it is by the profile"
    assert outcome.explains == "wire.account_exists.request_response.answer_member"


def test_hint_names_the_key_that_explains_it_or_says_that_none_does() -> None:
    assert hint(ASSUMED, "brand.title").startswith(
        'assumed brand.title: "Service", whose other value explains it; state'
    )
    assert "and 2 more keys; none of these explains it" in hint(ASSUMED)
