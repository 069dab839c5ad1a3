"""Generates test vectors of signed envelopes from the rows of the packs (docs/typed-data.md, "Vectors").

Each flow has one file. The same seed gives the same bytes: it decides wallets, chains, brands and times, and signatures
are deterministic (RFC 6979).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.drivers.envelopes.forms import PRIMARY_TYPES, EnvelopeRow, Flow, TypedDataCase
from conformance.drivers.envelopes.requests import Proof, Signers, proofs
from conformance.drivers.envelopes.rows import VARIABLES, Row, compile_rows, primary_type, variables
from conformance.language.models import PackForm
from conformance.language.scope import Scope
from conformance.language.templates import CompileContext
from conformance.language.vocabulary import standard
from conformance.profile import Profile, value_at
from conformance.profile.brand import Brand
from conformance.run.listing import PYTHON, pack_files
from conformance.values.json_text import vectors_text
from conformance.values.marked_yaml import Document
from conformance.values.typed_data import Wallet

FILES: dict[Flow, str] = {
    "create_wallet_with_signature": "create_wallet.json",
    "add_usage_api_key_with_signature": "add_usage_api_key.json",
    "convert_to_chain_secured_account": "convert_account.json",
    "balance": "billing_auth.json",
}
"""The file of each flow."""
PACKS = ("envelopes", "wallet_signed")
"""The packs whose rows become vectors. Other packs repeat some of these rows beside checks that need a node."""
FORMS = ("object", "string")
LONGEST = 10_000
"""The longest padded envelope in a vector, in bytes."""
CHAINS = (1, 10, 137, 8453, 31337, 42161, 11155111)
TITLES = ("Service", "Service", "Acme", "Example Labs")
FIRST_TIME = 1_750_000_000
DESCRIPTION = (
    "Signed envelopes that a node of this title and chain, at this Unix time, must accept (valid) or refuse (invalid) "
    "in this flow. `typed_data` is the JSON text of that member of a request."
)


@dataclass(frozen=True)
class TypedCase:
    """A case of the driver `typed_data`, with its rows."""

    pack: str
    form: TypedDataCase
    rows: Sequence[Row]


def typed_cases(folders: Sequence[Path]) -> Iterator[TypedCase]:
    """Every case of the driver `typed_data` in the packs of these folders. Raises LoadProblem for a faulty pack."""
    for path in pack_files(folders):
        if path.suffix == PYTHON:
            continue
        document = Document(path)
        pack = PackForm.model_validate(document.value)
        for index, raw in enumerate(pack.cases):
            if raw.get("driver") == "typed_data":
                form = TypedDataCase.model_validate(raw)
                context = CompileContext(document, standard(), ("cases", index), set(VARIABLES))
                rows = compile_rows(form, context)
                context.check()
                yield TypedCase(pack.pack, form, rows)


def vector_files(folder: Path, seed: str) -> dict[str, str]:
    """Name and text of each file, from the packs of a folder."""
    cases = [case for case in typed_cases([folder]) if case.pack in PACKS]
    return {name: _file_text(flow, cases, seed) for flow, name in FILES.items()}


def _file_text(flow: Flow, cases: Iterable[TypedCase], seed: str) -> str:
    groups = []
    number = 0
    for case in cases:
        if flow in case.form.flows and (tests := list(_tests(flow, case, setting := _setting(flow, case, seed)))):
            for test in tests:
                number += 1
                test["tc_id"] = number
            groups.append(
                {**setting.members_of(case), "tests": [{"tc_id": test.pop("tc_id"), **test} for test in tests]}
            )
    head = {
        "description": DESCRIPTION,
        "generator": f"service-conformance vectors typed-data --seed {seed}",
        "flow": flow,
        "primary_type": PRIMARY_TYPES[flow],
        "number_of_tests": number,
    }
    return vectors_text({**head, "test_groups": groups})


@dataclass(frozen=True)
class Setting:
    """The title, chain, time and wallets that the envelopes of a group are judged with."""

    profile: Profile
    signers: Signers
    now: int

    def members_of(self, case: TypedCase) -> dict[str, object]:
        """The members that the tests of a group share."""
        assumed = [use for use in case.form.uses if isinstance(use, dict)]
        choices = {key: value if isinstance(value, list) else [value] for use in assumed for key, value in use.items()}
        return {
            "topic": case.form.id,
            "comment": case.form.title,
            "requirements": case.form.requirements,
            "assumes": choices,
            "chain_id": self.signers.chain_id,
            "title": self.profile.brand.title,
            "now": self.now,
            "wallet": {"address": self.signers.wallet.address, "private_key": self.signers.wallet.private_key},
        }


def _setting(flow: Flow, case: TypedCase, seed: str) -> Setting:
    name = f"{seed}|{flow}|{case.pack}|{case.form.id}"
    chance = random.Random(name)  # noqa: S311 - repeatable test data, no secret
    title, chain_id = chance.choice(TITLES), chance.choice(CHAINS)
    signers = Signers(f"{title} ChainSecured", chain_id, Wallet(f"{name}|holder"), Wallet(f"{name}|other"))
    return Setting(Profile(brand=Brand(title=title)), signers, FIRST_TIME + chance.randrange(10**7))


def _tests(flow: Flow, case: TypedCase, setting: Setting) -> Iterator[dict[str, object]]:
    seen: set[tuple[str, object]] = set()
    for row in case.rows:
        if not row.goes_to(flow, FORMS) or not _is_about_the_envelope(row.form):
            continue
        for proof in _proofs(flow, row, setting):
            if isinstance(proof.signature, str) and (proof.typed_data, proof.signature) not in seen:
                seen.add((proof.typed_data, proof.signature))
                yield _test(row.form, proof, case.form.id)


def _is_about_the_envelope(row: EnvelopeRow) -> bool:
    """Whether the row varies the envelope, and not the request around it."""
    around = (row.raw, row.without, row.key, row.method, row.new_admin)
    if row.instead:
        return False
    return all(part is None for part in around) and not row.signature_first and (row.pad_to or 0) <= LONGEST


def _proofs(flow: Flow, row: Row, setting: Setting) -> Iterator[Proof]:
    issued_at = setting.now + row.form.issued
    values = variables(setting.signers, flow, row.form, issued_at)
    scope = Scope(lambda key: value_at(setting.profile, key), values)
    original = setting.signers.valid(primary_type(flow, row.form), issued_at)
    yield from proofs(row.form, row.changes(scope), original, setting.signers, row.form.form or "object")


def _test(row: EnvelopeRow, proof: Proof, reason: str) -> dict[str, object]:
    how = "" if proof.as_sent else ", signed over another envelope than this"
    return {
        "comment": f"{row.id}{how}",
        "typed_data": proof.typed_data,
        "signature": proof.signature,
        "digest": f"0x{proof.digest.hex()}",
        "digest_is_of": "this envelope" if proof.as_sent else "another envelope",
        "result": "valid" if row.accepted else "invalid",
        "reason": None if row.accepted else reason,
    }
