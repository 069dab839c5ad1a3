"""Judges answers and their effects by the specification, whatever the description says ("Errors", "Resources")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from conformance.drivers.fuzz.account import ACTIONS_INSIDE, LISTS, WALLETS_INSIDE, FuzzAccount, Lists
from conformance.drivers.fuzz.examples import Example, Sort
from conformance.drivers.fuzz.values import ECHO, LABELS
from conformance.drivers.openapi.answers import check_answer
from conformance.drivers.openapi.description import Description
from conformance.endpoints.messages import SHOWN, Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import (
    Departure,
    LeakyRefusal,
    Malformed,
    Mismatch,
    NotAccepted,
    NotRefused,
    ServerFault,
    StateChanged,
)
from conformance.profile import Profile
from conformance.profile.operations import PERMISSION_ARRAYS, PERMISSION_FLAGS
from conformance.service.acceptance import must_accept, raise_for_trouble
from conformance.service.labels import SHOWN_LABELS
from conformance.service.refusal import ExpectedRefusal, check_refusal
from conformance.service.runs import returned
from conformance.service.sizes import U64
from conformance.values.json_values import MISSING, member, printed, printed_json, same, whole_number
from conformance.values.shown_text import cut

TAKES = {
    "new_account": "EP-040",
    "add_usage_api_key": "EP-110",
    "update_usage_api_key": "EP-130",
    "update_usage_api_key_metadata": "EP-140",
    "list_api_keys": "EP-150",
    "add_group": "EP-160",
    "update_group": "EP-180",
    "list_groups": "EP-200",
    "list_wallets": "EP-230",
    "list_wallets_in_group": "EP-240",
    "list_actions": "EP-260",
    "add_action": "EP-280",
    "update_action_metadata": "EP-300",
    "get_action_ipfs_id": "EP-320",
    "add_action_to_group": "EP-360",
    "add_pkp_to_group": "EP-370",
    "run_action": "EP-380",
    "remove_group": "GRPLIFE-100",
    "remove_usage_api_key": "KEYLIFE-090",
    "create_payment_intent": "BILL-030",
}
"""The requirement about the request of each operation."""
LABEL = {
    (operation, f"group_{label}" if operation == "add_group" else label): (label, requirement)
    for operation, labels in SHOWN_LABELS.items()
    for label, requirement in labels.items()
}
"""By request member: the member of the listed item that shows it, and the requirement that says so."""
PERMISSION = {"add_usage_api_key": "UKEY-010", "update_usage_api_key": "KEYLIFE-020"}
ABOUT = {
    **dict.fromkeys(("add_group", "update_group"), "list_groups"),
    **dict.fromkeys(PERMISSION, "list_api_keys"),
    "update_usage_api_key_metadata": "list_api_keys",
    **dict.fromkeys(("add_action", "update_action_metadata"), "list_actions"),
}
"""The list that shows the object that an operation creates or changes."""
GONE_FROM = {"remove_group": "list_groups", "remove_usage_api_key": "list_api_keys"}
"""The list in which the object that an operation removes no longer is."""
SHOWN_BY = ABOUT | GONE_FROM
INSIDE = {
    "remove_group": {"list_api_keys"},
    "update_group": {WALLETS_INSIDE, ACTIONS_INSIDE},
    "add_pkp_to_group": {WALLETS_INSIDE},
    "add_action_to_group": {ACTIONS_INSIDE, "list_actions"},
    "add_action": {ACTIONS_INSIDE},
    "update_action_metadata": {ACTIONS_INSIDE},
}
"""Other lists that an accepted call may change."""
LISTS_GROUPS = frozenset({"add_group", "update_group", "remove_group"})
"""Operations with lists of actions, which a node may show among those of the account, registered or not."""
LARGE = 2**32
REFUSED_WHOLE, NO_SHAPE, PAGING, LARGE_NUMBERS = "ERR-150", "EP-030", "LIST-100", "UKEY-460"
JSON, LEAK, SCHEMA, PARAMETERS, SHOWS, NEVER_EXISTED = (
    "EP-010",
    "ERR-160",
    "VER-050",
    "EXEC-160",
    "LIST-170",
    "GRPLIFE-200",
)
REQUIREMENTS = frozenset(
    {*TAKES.values(), *PERMISSION.values(), *(name for _, name in LABEL.values())}
    | {REFUSED_WHOLE, NO_SHAPE, PAGING, LARGE_NUMBERS, JSON, LEAK, SCHEMA, PARAMETERS, SHOWS}
    | {NEVER_EXISTED}
)
"""Every requirement that a case can break."""


@dataclass(frozen=True)
class Choices:
    """Choices about lists that the specification leaves open. A silent profile permits either."""

    unregistered_listed: bool
    """Whether `list_actions` may show actions that are only in groups."""
    key_labels_replaced: bool
    """Whether `update_usage_api_key` must replace name and description, beside the permissions."""
    key_wallets_listed: bool
    """Whether `list_wallets` may show wallets of usage keys."""

    @classmethod
    def of(cls, profile: Profile) -> Choices:
        """The choices of a profile."""
        listing = profile.semantics.list_actions_unregistered
        return cls(
            unregistered_listed=listing is None or listing.account_list != "absent",
            key_labels_replaced=profile.semantics.update_usage_key_labels == "replaced",
            key_wallets_listed=profile.semantics.managed_key_wallet_listed is not False,
        )

    def replaces_labels(self, operation: str) -> bool:
        """Whether an accepted call must show the labels that were sent."""
        return self.key_labels_replaced or operation != "update_usage_api_key"


@dataclass(frozen=True)
class Finding:
    """A departure with the requirement that it breaks."""

    problem: Departure
    requirement: str

    @property
    def kind(self) -> tuple[str, str]:
        """The part of a failure that a simpler request must show, too."""
        return (self.requirement, self.problem.code)


class Judge:
    """Sends requests with an account and judges answers and effects. Raises Inconclusive where nothing was learnt."""

    def __init__(self, account: FuzzAccount, description: Description | None) -> None:
        self._account = account
        self._description = description
        self._choices = Choices.of(account.run.profile)
        self._before = account.lists(LISTS)
        self.accepted = False
        """Whether the last request was accepted."""
        self.kept = False
        """Whether the last request made what a later one can name."""

    def judge(self, example: Example) -> Finding | None:
        """Send a request and judge it."""
        run, self.accepted, self.kept = self._account.run, False, False
        try:
            request = self._account.request(example)
            answer = run.send(request)
            request = request.changed(**answer.renamed)
            raise_for_trouble(answer)
        except ServerFault as problem:
            return Finding(problem, _of_fault(example))
        except Malformed as problem:
            return Finding(problem, JSON)
        self.accepted = answer.accepted
        finding = self._judged_answer(example, request, answer)
        try:
            after = self._account.lists(self._watched(example.operation))
        except Departure as problem:
            return finding or Finding(problem, SHOWS)
        finding = (
            finding or _too_lenient(example, request, answer) or self._judged_effect(example, request, answer, after)
        )
        self._account.made += answer.accepted
        self.kept = bool(example.made) and answer.accepted and not finding and self._account.keep(example, answer)
        self._before |= after
        return finding

    def judge_rest(self) -> Finding | None:
        """The finding that a list changed which no request was about, if any."""
        try:
            after = self._account.lists(LISTS)
        except Departure as problem:
            return Finding(problem, SHOWS)
        for name, items in after.items():
            if not same(self._before[name], items):
                expected = f"{name} as before the requests: {cut(printed_json(self._before[name]), SHOWN)}"
                return Finding(StateChanged(expected, cut(printed_json(items), SHOWN)), REFUSED_WHOLE)
        return None

    def _judged_answer(self, example: Example, request: OutgoingRequest, answer: Answer) -> Finding | None:
        run = self._account.run
        try:
            if not answer.accepted:
                check_refusal(answer, ExpectedRefusal.of(["any"], run.profile), run.secrets)
                if example.sort is Sort.PLAIN:
                    must_accept(answer)
            elif self._description is not None:
                check_answer(self._description, request, answer)
            _ = answer.value
            if answer.accepted and example.operation == "run_action":
                self._must_return_parameters(request, answer)
        except LeakyRefusal as problem:
            return Finding(problem, LEAK)
        except Malformed as problem:
            return Finding(problem, JSON)
        except NotAccepted as problem:
            return Finding(problem, TAKES[example.operation])
        except Departure as problem:
            return Finding(problem, PARAMETERS if example.operation == "run_action" else SCHEMA)
        return None

    def _must_return_parameters(self, request: OutgoingRequest, answer: Answer) -> None:
        """Raise Mismatch unless the run returned the parameters of `main`."""
        if not printed(request.members.get("code")).startswith(ECHO) or "jsParams" not in request.members:
            return
        response, form = member(answer.value, "response"), self._account.run.profile.exec.response_form
        result = returned(response, form or "text")
        if not same(result, request.members["jsParams"]):
            expected = printed_json(request.members["jsParams"])
            raise Mismatch(f"a response {expected[:SHOWN]}", printed_json(result)[:SHOWN], answer.exchange)

    def _judged_effect(
        self, example: Example, request: OutgoingRequest, answer: Answer, after: Lists
    ) -> Finding | None:
        own = {SHOWN_BY.get(example.operation, ""), *INSIDE.get(example.operation, ())} if answer.accepted else set()
        if self._choices.key_wallets_listed and "list_api_keys" in own:
            own.add("list_wallets")
        grouped = answer.accepted and example.operation in LISTS_GROUPS
        for name, items in after.items():
            before = self._before[name]
            if name == "list_actions" and grouped:
                before, items = _labelled(before), _labelled(items)  # noqa: PLW2901 - what is compared of them
            if name not in own and not same(before, items):
                expected = f"{name} as before: {printed_json(before)[:SHOWN]}"
                problem = StateChanged(expected, cut(printed_json(items), SHOWN), answer.exchange)
                return Finding(problem, TAKES[example.operation] if answer.accepted else REFUSED_WHOLE)
        if answer.accepted and example.operation in GONE_FROM:
            return self._judged_removal(example.operation, answer, after)
        if not answer.accepted or example.sort is Sort.WRONG or example.operation not in ABOUT:
            return None
        return self._judged_item(example.operation, request.members, answer, after)

    def _judged_removal(self, operation: str, answer: Answer, after: Lists) -> Finding | None:
        """The finding that not exactly one item is gone, and all others as before, if so."""
        before, items = self._before[GONE_FROM[operation]], after[GONE_FROM[operation]]
        gone = [item for item in before if not any(same(item, other) for other in items)]
        if len(gone) == 1 and len(items) == len(before) - 1:
            return None
        expected = f"{GONE_FROM[operation]} with one item less than {len(before)}, and the others as before"
        got = f"{len(items)} items, and {len(gone)} of those before gone or changed"
        return Finding(Mismatch(expected, got, answer.exchange), TAKES[operation])

    def _judged_item(
        self, operation: str, members: Mapping[str, object], answer: Answer, after: Lists
    ) -> Finding | None:
        """Raise Mismatch unless the item of the call shows the sent values."""
        before, items = self._before[ABOUT[operation]], after[ABOUT[operation]]
        changed = [item for item in items if not any(same(item, earlier) for earlier in before)]
        if not changed:  # the sent values may equal the earlier ones
            changed = items[-1:] if operation.startswith("add_") else self._named(operation, members, items)
        if len(changed) != 1 or len(items) - len(before) not in {0, 1}:
            got = f"{len(changed)} items changed, and {len(items)} in place of {len(before)}"
            return Finding(Mismatch(f"one item of {operation}", got, answer.exchange), TAKES[operation])
        for problem, requirement in self._differences(operation, members, changed[0]):
            problem.exchange = answer.exchange
            return Finding(problem, requirement)
        return None

    def _watched(self, operation: str) -> list[str]:
        """The lists that are read after each request."""
        further = {"list_actions"} if operation in LISTS_GROUPS and self._choices.unregistered_listed else set()
        if self._choices.key_wallets_listed and SHOWN_BY.get(operation) == "list_api_keys":
            further.add("list_wallets")
        return [SHOWN_BY.get(operation, "list_groups"), *sorted({*INSIDE.get(operation, ()), *further})]

    def _named(self, operation: str, members: Mapping[str, object], items: list[object]) -> list[object]:
        """The earlier item with the sent values."""
        if not self._choices.replaces_labels(operation):
            return [item for item in items if not any(self._differences(operation, members, item))][:1]
        shown = {shown: members[name] for (called, name), (shown, _) in LABEL.items() if called == operation}
        return [item for item in items if all(member(item, name) in (value, MISSING) for name, value in shown.items())][
            :1
        ]

    def _differences(
        self, operation: str, members: Mapping[str, object], item: object
    ) -> Iterator[tuple[Mismatch, str]]:
        sent = members
        if not self._choices.replaces_labels(operation):
            sent = {name: value for name, value in members.items() if name not in LABELS}
        return _differences(operation, sent, item)


def _labelled(items: list[object]) -> list[object]:
    """The actions with labels: those that are only in groups have none."""
    return [item for item in items if member(item, "name") not in ("", None, MISSING)]


def _too_lenient(example: Example, request: OutgoingRequest, answer: Answer) -> Finding | None:
    """The finding that the node accepted a group id outside u64, if it did."""
    if example.sort is not Sort.WRONG or not answer.accepted:
        return None
    for name in (*PERMISSION_ARRAYS, "group_id"):
        value = request.members.get(name)
        numbers = value if isinstance(value, list) else [value]
        if any(isinstance(number, int) and not 0 <= number < U64 for number in numbers):
            problem = NotRefused(f"a refusal of {name} {printed_json(value)[:SHOWN]}", answer.summary, answer.exchange)
            return Finding(problem, LARGE_NUMBERS if name in PERMISSION_ARRAYS else NEVER_EXISTED)
    return None


def _differences(operation: str, members: Mapping[str, object], item: object) -> Iterator[tuple[Mismatch, str]]:
    for name, sent in members.items():
        shown, requirement = LABEL.get((operation, name), (name, PERMISSION.get(operation, "")))
        listed = member(item, shown)
        if listed is MISSING or not requirement or name not in LABELS | {*PERMISSION_FLAGS, *PERMISSION_ARRAYS}:
            continue
        if name in PERMISSION_ARRAYS:
            if _ids(sent) != _ids(listed):
                large = any(isinstance(number, int) and number >= LARGE for number in _ids(sent))
                problem = Mismatch(f"{name} {printed_json(sent)[:SHOWN]}", printed_json(listed)[:SHOWN])
                yield problem, LARGE_NUMBERS if large else requirement
        elif not same(sent, listed) and _is_ordinary(sent):
            yield Mismatch(f"{shown} {printed_json(sent)[:SHOWN]}", printed_json(listed)[:SHOWN]), requirement


def _ids(array: object) -> set[object]:
    """Group ids of integers, texts, or numbers such as 1.0, which equals 1 in JSON."""
    if not isinstance(array, list):
        return {printed(array)}
    return {printed(entry) if (number := _whole(entry)) is None else number for entry in array}


def _whole(entry: object) -> int | None:
    if isinstance(entry, int) or (isinstance(entry, float) and entry.is_integer()):
        return int(entry)
    return whole_number(printed(entry))


def _is_ordinary(value: object) -> bool:
    """Whether a text consists of letters, marks and blanks. A label with control characters may be shown otherwise."""
    return not isinstance(value, str) or all(letter.isprintable() or letter in "\t\n" for letter in value)


def _of_fault(example: Example) -> str:
    if example.operation.startswith("list_"):
        return PAGING if {"page_number", "page_size"} & example.members.keys() else TAKES[example.operation]
    return NO_SHAPE if example.sort is Sort.WRONG else TAKES[example.operation]
