"""The driver `fuzz`: sends generated requests and judges them by the specification.

The value rules (`values`) give each member its rare and its wrong values, `examples` combines them, and schemathesis
adds what it makes of the node's own description (`generated`). Some cases send sequences along links instead (`links`).
They go to an account of the case's own (`account`) in random order; each answer and the account's lists after it are
judged (`judge`). A failing request is simplified (`shrink`), and written as a pack that repeats it (`replay`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pydantic import JsonValue

from conformance.drivers.fuzz.account import FuzzAccount
from conformance.drivers.fuzz.examples import Example, Examples, Members, Sort
from conformance.drivers.fuzz.form import FuzzCase
from conformance.drivers.fuzz.generated import described, generated
from conformance.drivers.fuzz.judge import REQUIREMENTS, Choices, Finding, Judge
from conformance.drivers.fuzz.links import Sequences, links_of
from conformance.drivers.fuzz.replay import replay_of, replay_pack, shown_by
from conformance.drivers.fuzz.shrink import Requests, shrink_all
from conformance.drivers.fuzz.values import LABELS, ValueRules
from conformance.drivers.openapi.description import read_description
from conformance.drivers.steps.caserun import CaseRun
from conformance.language.templates import CompileContext
from conformance.problems import BadShape, Departure, SetupFailed
from conformance.profile import Operation
from conformance.profile.wire import ZERO_HASH
from conformance.service.actions import Actions
from conformance.service.lists import first_page

__all__ = ["FuzzCase", "compile_fuzz"]

OF_BUDGET = 60
"""The number of requests of a case for each unit of `--budget`."""
MOST_MADE = 15
"""The most accepted requests for one account: longer lists take longer to read."""


def compile_fuzz(form: FuzzCase, context: CompileContext) -> Callable[[CaseRun], None]:
    """Compile a case, which sends all requests until one fails."""
    unknown = sorted(set(form.requirements) - REQUIREMENTS)
    if unknown:
        raise context.at("requirements").problem(BadShape, f"the driver fuzz charges none of {', '.join(unknown)}")
    info = context.info
    info.drawn = True
    info.needs.add("managed_accounts")
    info.uses |= {"accounts.credits", "wire.paging.first_page_number"}
    info.operations |= {
        "new_account",
        "create_wallet",
        "add_group",
        "add_usage_api_key",
        "add_action",
        *form.operations,
    }

    def program(run: CaseRun) -> None:
        FuzzRun(form, context, run).send_all()

    return program


class FuzzRun:
    """One run of a case."""

    def __init__(self, form: FuzzCase, context: CompileContext, run: CaseRun) -> None:
        self._form, self._context, self._run = form, context, run
        self._description = read_description(run) if run.profile.offers("openapi") else None
        forms = run.profile.wire.group.cid_wildcard_form
        self._rules = ValueRules(
            run.random,
            wildcard=forms[0] if forms else ZERO_HASH,
            pages=(first_page(run), run.target.page_size),
            sample=Actions(run).sample_cid,
        )
        self._examples = Examples(self._rules, run.random)
        self._runs = "run_action" in form.operations
        self._accounts = 0

    def send_all(self) -> None:
        """Send all requests. Raises Departure for the first failing one, simplified."""
        judge = self._judge()
        budget = self._run.target.extent.budget
        limit = None if budget is None else budget * OF_BUDGET
        sent = 0
        waiting: list[Requests] = []
        for planned in self._all():
            waiting.append(planned)
            while waiting and (limit is None or sent < limit):
                requests = waiting.pop()
                if self._account.made >= MOST_MADE:
                    self._judge_rest(judge)
                    judge = self._judge()
                    self._run.log.forget()
                played, finding, refused = _play(judge, requests)
                sent += len(played)
                if finding is not None and finding.requirement in self._form.requirements:
                    raise self._departure(played, finding, f"request {sent}")
                if finding is not None:
                    judge = self._judge()
                elif refused is not None and self._form.follow_links:
                    waiting += self._apart(requests, refused)
        self._judge_rest(judge)

    def _apart(self, requests: Requests, refused: int) -> list[Requests]:
        """The sequence with each label of a refused request alone, and with none: a refusal hides the other labels."""
        example = requests[refused]
        plain = self._plain(example)
        rare = [name for name, value in example.members.items() if name in LABELS and value != plain[name]]
        kept = [{}, *({name: example.members[name]} for name in rare if len(rare) > 1)] if rare else []
        variants = [example.with_members(example.members | plain | labels) for labels in kept]
        return [(*requests[:refused], variant, *requests[refused + 1 :]) for variant in variants]

    def _judge_rest(self, judge: Judge) -> None:
        """Compare, after the last request of an account, the lists that none of them was about."""
        finding = judge.judge_rest()
        if finding is not None and finding.requirement in self._form.requirements:
            finding.problem.requirements = (finding.requirement,)
            raise finding.problem

    def _all(self) -> Iterator[Requests]:
        """Sequences; or requests by the value rules, then those by the description, which take longer to make."""
        operations = [self._run.target.operation(name) for name in self._form.operations]
        if self._form.follow_links:
            yield from self._sequences({operation.name: operation for operation in operations})
            return
        examples = [example for one in operations for example in self._examples.of(one)]
        self._run.random.shuffle(examples)
        yield from ((example,) for example in examples)
        yield from ((example,) for example in self._generated(operations))

    def _sequences(self, operations: Mapping[str, Operation]) -> Iterator[Requests]:
        links = links_of(self._description, operations)
        sequences = list(Sequences(self._rules, self._examples, self._run.random).of(links, operations))
        self._run.random.shuffle(sequences)
        yield from sequences

    def _generated(self, operations: list[Operation]) -> Iterator[Example]:
        document: dict[str, JsonValue] = (
            dict(self._description.document) if self._description else described(operations)  # type: ignore[arg-type]  # parsed from JSON
        )
        seed, count = self._run.seed, self._form.generated
        examples = [
            example
            for one in operations
            for sort in (Sort.VALID, Sort.WRONG)
            for example in generated(document, one, sort, count, seed)
        ]
        self._run.random.shuffle(examples)
        yield from examples

    def _judge(self) -> Judge:
        self._accounts += 1
        try:
            self._account = FuzzAccount(self._run, self._context, f"account {self._accounts}", runs=self._runs)
            return Judge(self._account, self._description)
        except Departure as problem:
            raise SetupFailed.of(problem) from problem

    def _departure(self, requests: Requests, finding: Finding, place: str) -> Departure:
        """The failure by the simplest requests found, with its replay."""
        simple = requests
        if not self._run.target.extent.until_wrong:
            simple = shrink_all(requests, self._plain, lambda others: self._fails_like(others, finding))
        example = simple[-1]
        target = self._run.target
        case = replay_of(simple, finding, self._account.beginning, target.operation, Choices.of(self._run.profile))
        problem = shown_by(case, self._run, self._context)
        if problem is None:
            problem = finding.problem
            problem.step = f"{place}, {example.operation}, and not when repeated alone"
        else:
            problem.replay = replay_pack(case, self._run)
            problem.step = f"the replay of {place}, {example.operation}"
        problem.requirements = (finding.requirement,)
        return problem

    def _plain(self, example: Example) -> Members:
        """Simple values of a request's members; what an earlier request made stays what it is about."""
        names = list(self._run.target.operation(example.operation).request)
        made = {name: value for name, value in example.members.items() if str(value).startswith("${made")}
        return {name: self._rules.plain(name)[0] for name in names} | made

    def _fails_like(self, requests: Requests, finding: Finding) -> bool:
        played, again, _ = _play(self._judge(), requests)
        return again is not None and len(played) == len(requests) and again.kind == finding.kind


def _play(judge: Judge, requests: Requests) -> tuple[Requests, Finding | None, int | None]:
    """Send requests until one fails, or does not make what the later ones name.

    What was sent, the failure, and the number of the first request that was refused.
    """
    refused: int | None = None
    for number, example in enumerate(requests):
        finding = judge.judge(example)
        if not judge.accepted and refused is None:
            refused = number
        if finding is not None or (example.made and not judge.kept):
            return requests[: number + 1], finding, refused
    return requests, None, refused
