"""Observes the accepted forms of envelopes and signatures, by mints of wallets that are attached to no account."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import JsonValue

from conformance.survey.asking import object_of
from conformance.survey.trial import Trial
from conformance.values.json_text import written
from conformance.values.typed_data import Signed, Wallet, digest, envelope

PATH = "create_wallet_with_signature"


@dataclass
class Minting:
    """Mints with one change each, after an accepted mint without changes."""

    trial: Trial
    wallet: Wallet
    title: str
    chain_id: int
    form: Callable[[JsonValue], JsonValue] = lambda document: document

    def accepts(
        self,
        change: Callable[[dict[str, JsonValue]], None] = lambda _: None,
        sign: Callable[[Signed], str] = lambda signed: signed.text,
        form: Callable[[JsonValue], JsonValue] | None = None,
    ) -> bool:
        """Whether a mint is accepted whose envelope was changed after signing."""
        document: dict[str, JsonValue] = envelope(  # type: ignore[assignment]  # it holds JSON values alone
            "CreateWallet",
            name=f"{self.title} ChainSecured",
            chain_id=self.chain_id,
            address=self.wallet.address,
            issued_at=int(time.time()),
        )
        signed = self.wallet.sign(
            digest(document)
        )  # other forms of numbers and members outside the message have the same digest
        change(document)
        body: dict[str, JsonValue] = {"typed_data": (form or self.form)(document), "signature": sign(signed)}
        return self.trial.ask.post(PATH, body=body).accepted


def signing(trial: Trial) -> None:
    """Find the brand's title by an accepted mint, then try one change at a time."""
    config = object_of(trial.ask.get("get_node_chain_config"))
    slug = trial.notes.value("brand.slug", "")
    titles = dict.fromkeys((trial.notes.value("brand.title", slug.capitalize()), slug.capitalize(), slug.upper(), slug))
    for title in titles:
        minting = Minting(trial, Wallet(trial.label), title, int(str(config.get("chain_id", 0))))
        forms = {name: minting.accepts(form=form) for name, form in FORMS.items()}
        if any(forms.values()):
            trial.notes.see("brand.title", title, f"an envelope of {title} ChainSecured is accepted")
            accepted: list[JsonValue] = [name for name, taken in forms.items() if taken]
            trial.notes.see("wire.typed_data.form", accepted, "mints with each form of typed_data")
            minting.form = FORMS[str(accepted[0])]
            _forms(minting)
            return


FORMS: dict[str, Callable[[JsonValue], JsonValue]] = {"object": lambda document: document, "string": written}


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
