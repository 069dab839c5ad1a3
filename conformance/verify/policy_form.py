"""The form of a policy file and of a file of measurements. docs/verify.md describes every key.

Run ``python -m conformance.verify.policy_form`` after a change: it writes the JSON Schema.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from conformance.verify.policy import TcbStatus

SCHEMA_FILE = Path(__file__).with_name("policy.schema.json")

Register = Annotated[str, Field(pattern=r"^(0x)?[0-9a-fA-F]{96}$", description="48 bytes in hex.")]
Hash = Annotated[str, Field(pattern=r"^(0x)?[0-9a-fA-F]{64}$", description="32 bytes in hex.")]
Hex = Annotated[str, Field(pattern=r"^(0x)?([0-9a-fA-F]{2})+$", description="Bytes in hex.")]
Address = Annotated[str, Field(pattern=r"^(0x)?[0-9a-fA-F]{40}$", description="20 bytes in hex.")]
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
Url = Annotated[str, Field(pattern=r"^https?://[^\s/]+")]
Text = Annotated[str, Field(min_length=1)]


class Form(BaseModel):
    """A mapping of a file: no other keys, and no value is turned into one of another type."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class EventDigests(Form):
    """Digests of the events that extended the boot registers, in order."""

    rtmr0: list[Register] = []
    rtmr1: list[Register] = []
    rtmr2: list[Register] = []


class MeasurementsForm(Form):
    """One boot that is accepted, as `dstack-mr measure --json` prints it, with a name and a source."""

    name: Text | None = Field(default=None, description="Shown in verdicts. Without: the file's name.")
    source: str = Field(default="", description="Where the values come from.")
    mrtd: Register
    rtmr0: Register
    rtmr1: Register
    rtmr2: Register
    events: EventDigests = Field(
        default=EventDigests(), description="With them a refusal names the event that differs."
    )
    mr_aggregated: Hex | None = Field(default=None, description="Printed by versions of dstack-mr; not compared.")
    mr_enclave: Hex | None = Field(default=None, description="Printed by versions of dstack-mr; not compared.")
    mr_image: Hex | None = Field(default=None, description="Printed by versions of dstack-mr; not compared.")


class CollateralForm(Form):
    """What the hardware vendor says of platforms."""

    pccs: Url | None = Field(default=None, description="Where it is fetched. Null: Intel's service.")
    file: Text | None = Field(default=None, description="A file to use instead, as a folder's collateral.json.")
    max_age_days: PositiveInt | None = Field(default=None, description="Since TCB info and QE identity were issued.")


class TcbForm(Form):
    """The platform's trusted computing base."""

    accept: list[TcbStatus] = Field(
        default=[TcbStatus.UP_TO_DATE], min_length=1, description="All statuses that are accepted."
    )
    max_age_days: PositiveInt | None = Field(default=None, description="Since the date of the level that is reached.")


class TdForm(Form):
    """Attributes of the confidential machine that protect less."""

    allow_debug: bool = Field(default=False, description="The host can read the memory of such a machine.")
    allow_ve_injection: bool = Field(default=False, description="The host can inject exceptions into such a machine.")


class KeyProviderForm(Form):
    """Who gives the app its keys, as the runtime event `key-provider` says."""

    name: Text | None = None
    id: Text | None = None


class BootForm(Form):
    """The boots that are accepted. Without any the boot is not judged."""

    measurements: list[MeasurementsForm] = []
    file: Text | None = Field(default=None, description="A file of measurements, one set or a list, to use instead.")


class AppForm(Form):
    """Who and what must run. A list names all that is accepted."""

    id: Address | None = Field(default=None, description="Also the address of the authorisation contract.")
    instance_id: Hex | None = None
    compose_hash: list[Hash] = Field(default=[], description="SHA-256 of app_compose.")
    compose_file: Text | None = Field(
        default=None, description="A compose file, or a whole app_compose text, byte for byte."
    )
    image_digests: list[Digest] = Field(default=[], description="No service may run an image of another digest.")
    os_image_hash: list[Hash] = []
    key_provider: KeyProviderForm | None = None


class ContractForm(Form):
    """The authorisation contract, which is at the app's id."""

    rpc_url: Url | None = Field(default=None, description="JSON-RPC of its chain. Null: the contract is not asked.")


class CaaForm(Form):
    """CAA records of the gateway domain."""

    resolver: Text | None = Field(default=None, description="HOST:PORT. Null: the system's resolver.")
    accounts: list[Url] = Field(default=[], description="ACME accounts that may hold a certificate.")
    allow_other_accounts: bool = Field(default=False, description="Accept records of further accounts.")


class SignerForm(Form):
    """Somebody whose statements are believed."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["key"]}, {"required": ["identity", "issuer"]}]}
    )

    key: Text | None = Field(
        default=None, description="A public key in PEM, or the file of one: Ed25519 or ECDSA over P-256."
    )
    identity: Text | None = Field(
        default=None, description="In place of a key: whom the certificate of a Sigstore bundle has to name, exactly."
    )
    issuer: Text | None = Field(default=None, description="The OpenID Connect issuer that vouches for the identity.")
    name: Text | None = Field(default=None, description="Shown in verdicts.")


class StatementForm(Form):
    """Statements that the code was judged by the conformance suite."""

    signers: list[SignerForm] = Field(default=[], description="Without any, no statement is looked at.")
    max_age_days: PositiveInt | None = Field(default=None, description="Since the end of the run.")
    accept: list[Literal["PASSED", "WARNED"]] = Field(
        default=["PASSED"], min_length=1, description="All results that are accepted."
    )
    trusted_root: Text | None = Field(
        default=None, description="Sigstore's trusted_root.json, or the file of it. Null: that of the public instance."
    )


class PolicyForm(Form):
    """All that a verification accepts."""

    root: Text = Field(
        default="intel", description="The trusted root: `intel`, a certificate in PEM, or the file of one."
    )
    collateral: CollateralForm = CollateralForm()
    tcb: TcbForm = TcbForm()
    td: TdForm = TdForm()
    boot: BootForm = BootForm()
    app: AppForm = AppForm()
    contract: ContractForm = ContractForm()
    caa: CaaForm = CaaForm()
    statement: StatementForm = StatementForm()


def schema_text() -> str:
    """The JSON Schema of a policy file."""
    schema = PolicyForm.model_json_schema()
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Verification policy"}
    return json.dumps(document, indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
