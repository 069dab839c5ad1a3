"""Observes the conversion of an account that the survey made: its answer, the old key, and the new wallet's proof."""

from __future__ import annotations

import base64

from conformance.survey.asking import name_of, value_of
from conformance.survey.meaning import outcome
from conformance.survey.runs import ANSWERS, RUN
from conformance.survey.signing import FORMS, chain_id_of, signed
from conformance.survey.trial import Trial
from conformance.values.json_text import written
from conformance.values.typed_data import Wallet

CONVERT = "convert_to_chain_secured_account"


def conversion(trial: Trial, key: str) -> None:
    """Convert an account that nobody needs any more to a wallet of the survey's, and try its old key."""
    form = trial.notes.seen.get("wire.typed_data.form")
    if form is None or not isinstance(form.value, list):
        return
    wallet = Wallet(f"{trial.label} admin")
    title, chain_id, write = trial.notes.value("brand.title", ""), chain_id_of(trial), FORMS[str(form.value[0])]
    proof = signed("ConvertAccount", wallet, title, chain_id, write)
    converted = trial.ask.post(CONVERT, key, body={**proof, "new_admin_wallet_address": wallet.address})
    if not converted.accepted:
        trial.notes.doubt("wire.convert.response.success", f"{CONVERT} answers {converted.status}")
        return
    body = value_of(converted)
    members = body if isinstance(body, dict) else {}
    success = name_of(members, True)
    if success or not any(isinstance(value, bool) for value in members.values()):
        trial.notes.see("wire.convert.response.success", success, f"a conversion answers {sorted(members)}")
    outcome(trial, "mode.old_master_key_reads", trial.ask.send("GET", trial.first_list, key), "list_groups afterwards")
    if trial.offers(RUN):
        run = trial.call(RUN, {"code": ANSWERS, "jsParams": {}}, key)
        outcome(trial, "mode.old_master_key_execute", run, "a run afterwards")
    _proof(trial, written(signed("BillingAuth", wallet, title, chain_id, write)))


def _proof(trial: Trial, proof: str) -> None:
    """Observe in which encoding `X-Wallet-Auth` opens the balance of the wallet's account."""
    encodings = {
        "base64_json": base64.b64encode(proof.encode()).decode(),
        "base64url_json": base64.urlsafe_b64encode(proof.encode()).decode(),
        "json": proof,
    }
    taken = [
        name
        for name, header in encodings.items()
        if trial.ask.send("GET", "billing/balance", X_Wallet_Auth=header).accepted
    ]
    if len(taken) == 1:
        trial.notes.see("wire.x_wallet_auth.encoding", taken[0], "billing/balance with each encoding")
    elif "base64_json" in taken and encodings["base64_json"] == encodings["base64url_json"]:
        trial.notes.doubt("wire.x_wallet_auth.encoding", "the proof is the same text in both alphabets of base64")
