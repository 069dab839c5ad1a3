"""Observes the accepted forms of envelopes and signatures, by mints of wallets that are attached to no account."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from pydantic import JsonValue

from conformance.endpoints.canonical import number_of
from conformance.endpoints.messages import Answer
from conformance.survey.asking import object_of
from conformance.survey.trial import Trial
from conformance.values.json_text import written
from conformance.values.typed_data import Signed, Wallet, digest, envelope

PATH = "create_wallet_with_signature"


FORMS: dict[str, Callable[[JsonValue], JsonValue]] = {"object": lambda document: document, "string": written}
MOST_BYTES = 4096
"""The most bytes of typed data ("Limits")."""


@dataclass(frozen=True)
class Minting:
    """Mints with one change each, after an accepted mint without changes."""

    trial: Trial
    wallet: Wallet
    title: str
    chain_id: int
    form: Callable[[JsonValue], JsonValue] = FORMS["object"]

    def mint(
        self,
        change: Callable[[dict[str, JsonValue]], None] = lambda _: None,
        sign: Callable[[Signed], str] = lambda signed: signed.text,
        form: Callable[[JsonValue], JsonValue] | None = None,
    ) -> Answer:
        """The answer to a mint whose envelope was changed after signing.

        Other forms of numbers and members outside of the message have the same digest.
        """
        body = signed("CreateWallet", self.wallet, self.title, self.chain_id, form or self.form, change, sign)
        return self.trial.ask.post(PATH, body=body)

    def accepts(
        self,
        change: Callable[[dict[str, JsonValue]], None] = lambda _: None,
        sign: Callable[[Signed], str] = lambda signed: signed.text,
        form: Callable[[JsonValue], JsonValue] | None = None,
    ) -> bool:
        """Whether such a mint is accepted."""
        return self.mint(change, sign, form).accepted


def signed(
    primary_type: str,
    wallet: Wallet,
    title: str,
    chain_id: int,
    form: Callable[[JsonValue], JsonValue],
    change: Callable[[dict[str, JsonValue]], None] = lambda _: None,
    sign: Callable[[Signed], str] = lambda signed: signed.text,
) -> dict[str, JsonValue]:
    """The members `typed_data` and `signature` of an envelope, which is changed after signing."""
    document: dict[str, JsonValue] = envelope(  # type: ignore[assignment]  # it holds JSON values alone
        primary_type,
        name=f"{title} ChainSecured",
        chain_id=chain_id,
        address=wallet.address,
        issued_at=int(time.time()),
    )
    signature = sign(wallet.sign(digest(document)))
    change(document)
    return {"typed_data": form(document), "signature": signature}


def chain_id_of(trial: Trial) -> int:
    """The chain id that the node tells; 0 where it tells none."""
    told = number_of(object_of(trial.ask.get("get_node_chain_config")).get("chain_id"))
    return told or 0


def signing(trial: Trial) -> None:
    """Find the brand's title by an accepted mint, then try one change at a time."""
    slug = trial.notes.value("brand.slug", "")
    titles = dict.fromkeys((trial.notes.value("brand.title", slug.capitalize()), slug.capitalize(), slug.upper(), slug))
    for title in titles:
        minting = Minting(trial, Wallet(trial.label), title, chain_id_of(trial))
        forms = {name: minting.mint(form=form) for name, form in FORMS.items()}
        accepted: list[JsonValue] = [name for name, answer in forms.items() if answer.accepted]
        if accepted:
            trial.notes.see("brand.title", title, f"an envelope of {title} ChainSecured is accepted")
            trial.notes.see("wire.typed_data.form", accepted, "mints with each form of typed_data")
            minting = replace(minting, form=FORMS[str(accepted[0])])
            _path(trial, forms[str(accepted[0])])
            _faults(minting)
            if "string" in accepted:
                padded = minting.accepts(form=lambda document: written(document).ljust(MOST_BYTES + 1))
                told = "compact_utf8" if padded else "as_sent"
                trial.notes.see("env.size_measure.string", told, "a mint with over 4 KiB by white space")
            _forms(minting)
            return


def _path(trial: Trial, answer: Answer) -> None:
    path = object_of(answer).get("derivation_path")
    if isinstance(path, int):
        trial.notes.see("wire.derivation_path.form", "integer", f"a mint answers {path}")
    elif isinstance(path, str):
        form = "hex_uint256" if path.startswith("0x") else "decimal_string" if path.isdecimal() else "path_text"
        trial.notes.see("wire.derivation_path.form", form, f"a mint answers {path}")


def _faults(minting: Minting) -> None:
    """Observe the statuses of refusals of typed data: a node may tell its faults from signatures at fault."""
    other = Wallet(f"{minting.trial.label} other")
    answers = {
        "another signer": minting.mint(sign=lambda _: other.sign(bytes(32)).text),
        "another chain": replace(minting, chain_id=minting.chain_id + 1).mint(),
        "another name": replace(minting, title=f"{minting.title}X").mint(),
        "no signature": minting.mint(sign=lambda _: "0x"),
        "an old envelope": minting.mint(_issued_as(lambda number: str(number - OLD_SECONDS))),
    }
    for fault, answer in answers.items():
        if answer.status in OF_FAULTS:
            minting.trial.notes.also("errors.status_codes.malformed", answer.status, f"a mint with {fault}")


OLD_SECONDS = 3_600
OF_FAULTS = frozenset({400, 401, 403, 422})


def _forms(minting: Minting) -> None:
    notes = minting.trial.notes
    last: list[JsonValue] = [27, 28]
    raw = minting.accepts(sign=lambda signed: signed.text[:-2] + f"{int(signed.text[-2:], 16) - 27:02x}")
    how = "mints with each form of signature"
    notes.see("env.signature_forms.recovery_bytes", [*last, 0, 1] if raw else last, how)
    high = minting.accepts(sign=lambda signed: signed.twin.text)
    notes.see("env.signature_forms.high_s", "accepted" if high else "refused", how)
    kinds: list[JsonValue] = ["decimal_string"]
    kinds += [name for name, write in NUMBERS.items() if minting.accepts(_issued_as(write))]
    notes.see("env.numeric_forms", kinds, "mints with each form of issuedAt")
    ignored = minting.accepts(_with_a_note)
    notes.see("env.undeclared_keys", "ignored" if ignored else "refused", "a mint with one more member")


NUMBERS: dict[str, Callable[[int], JsonValue]] = {
    "integer": lambda number: number,
    "hex_string": hex,
    "leading_zeros": lambda number: f"00{number}",
}


def _issued_as(write: Callable[[int], JsonValue]) -> Callable[[dict[str, JsonValue]], None]:
    def change(document: dict[str, JsonValue]) -> None:
        message = document["message"]
        if isinstance(message, dict):
            message["issuedAt"] = write(int(str(message["issuedAt"])))

    return change


def _with_a_note(document: dict[str, JsonValue]) -> None:
    document["note"] = "survey"
