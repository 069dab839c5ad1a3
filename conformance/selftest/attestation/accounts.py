"""Vectors of the ACME account in CAA records (rule 5), of the registered hash (rule 8) and of what was observed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from conformance.selftest.attestation.forms import Group, Test, accepted, refused, rows
from conformance.selftest.attestation.sound_evidence import Caa, SoundEvidence, identity
from conformance.selftest.attestation.sound_quote import NOW
from conformance.verify.evidence import OBSERVED

AT = int(NOW.timestamp())
DAY = 24 * 3600


def caa_groups(seed: bytes) -> list[Group]:
    """The groups of CAA records and the ACME account."""
    sound = SoundEvidence(seed, identity(seed))
    return [
        sound.group(
            "caa", "Every CAA record that permits a CA names the account", [*_permits(sound), *_caa_form(sound)]
        ),
        sound.group("caa-answer", "What DNS answers where there are no records", list(_answers(sound))),
        sound.group("acme-account", "The account that acme-account.json names", list(_account(sound))),
    ]


def authorisation_groups(seed: bytes) -> list[Group]:
    """The groups of the registered hash and of what was observed."""
    sound = SoundEvidence(seed, identity(seed))
    return [
        sound.group("authorisation", "The contract allows the compose hash", list(_allowed(sound))),
        sound.group("observed", "What stands beside the bodies", list(_observed(sound))),
    ]


def _permits(sound: SoundEvidence) -> Iterator[Test]:
    uri = sound.issuer.account_uri
    mine = f"acme.example; accounturi={uri}"

    def caa(*records: tuple[str, str]) -> dict[str, str | bytes | None]:
        return sound.but(caa=Caa([(0, tag, value) for tag, value in records]))

    for comment, records in {
        "one issue record": [("issue", mine)],
        "issue and issuewild": [("issue", mine), ("issuewild", mine)],
        "wildcards for nobody": [("issue", mine), ("issuewild", ";")],
        "two CAs, the same account": [("issue", mine), ("issue", f"other.example; accounturi={uri}")],
        "contact and mail properties": [("issue", mine), ("iodef", "mailto:a@b.example"), ("issuemail", ";")],
        "a property that nobody knows, not critical": [("issue", mine), ("tbs", "Unknown")],
        "the tag in capitals": [("ISSUE", mine)],
        "a method beside the account": [("issue", f"acme.example; validationmethods=dns-01; accounturi={uri}")],
        "no blanks": [("issue", f"acme.example;accounturi={uri}")],
        "blanks around everything": [("issue", f"  acme.example ;  accounturi = {uri}  ")],
        "the parameter's name in capitals": [("issue", f"acme.example; AccountURI={uri}")],
    }.items():
        yield accepted(comment, caa(*records), "Variant")
    critical = sound.but(caa=Caa([(128, "issue", mine)]))
    yield accepted("a critical issue record", critical, "Variant")
    for comment, value in {
        "another account": mine[:-1] + ("0" if mine[-1] != "0" else "1"),
        "an account that begins with the evidence's": f"acme.example; accounturi={uri}1",
        "the beginning of the evidence's account": f"acme.example; accounturi={uri[:-1]}",
        "the account with a slash behind it": f"acme.example; accounturi={uri}/",
        "the account in capitals": f"acme.example; accounturi={uri.upper()}",
        "the account over http": f"acme.example; accounturi={uri.replace('https', 'http')}",
        "the account's number alone": f"acme.example; accounturi={uri.rpartition('/')[2]}",
        "the account in quotes": f'acme.example; accounturi="{uri}"',
        "the account percent-encoded": f"acme.example; accounturi={uri.replace('/acct', '%2Facct')}",
        "no account": "acme.example; accounturi=",
    }.items():
        yield refused("caa-account-absent", f"the record names {comment}", caa(("issue", value)), "CaaAccount")
    for comment, records in {
        "no account in the only record": [("issue", "acme.example")],
        "no account in the second issue record": [("issue", mine), ("issue", "other.example")],
        "no account in the issuewild record": [("issue", mine), ("issuewild", "acme.example")],
        "the account in another parameter": [("issue", f"acme.example; account={uri}")],
        "the account as value of another parameter": [("issue", f"acme.example; x=accounturi={uri}")],
    }.items():
        yield refused("caa-unpinned", comment, caa(*records), "CaaUnpinned")
    other = "acme.example; accounturi=https://acme.example/acme/acct/7"
    for comment, records in {
        "a second issue record for another account": [("issue", mine), ("issue", other)],
        "the first issue record is for another account": [("issue", other), ("issue", mine)],
        "an issuewild record for another account": [("issue", mine), ("issuewild", other)],
    }.items():
        yield refused("caa-other-account", comment, caa(*records), "CaaAccount")
    yield refused(
        "caa-account-absent", "only wildcards for the account", caa(("issue", ";"), ("issuewild", mine)), "CaaAccount"
    )
    yield refused("caa-account-absent", "issuance for nobody", caa(("issue", ";")), "CaaAccount")
    yield refused("caa-no-issue", "only wildcards are restricted", caa(("issuewild", mine)), "CaaUnpinned")
    yield refused("caa-no-issue", "only a contact", caa(("iodef", f"mailto:{uri}")), "CaaUnpinned")


def _caa_form(sound: SoundEvidence) -> Iterator[Test]:
    uri = sound.issuer.account_uri
    for comment, value in {
        "the account twice": f"acme.example; accounturi={uri}; accounturi={uri}",
        "two accounts in one record": f"acme.example; accounturi={uri}; accounturi=https://acme.example/7",
        "a parameter without a value": f"acme.example; pinned; accounturi={uri}",
        "commas between parameters": f"acme.example, accounturi={uri}",
        "a blank in the CA's name": f"acme example; accounturi={uri}",
        "a CA's name with a dot at its end": f"acme.example.; accounturi={uri}",
        "an empty parameter at the end": f"acme.example; accounturi={uri};",
        "an empty parameter between": f"acme.example;; accounturi={uri}",
        "a letter beyond ASCII": f"acmé.example; accounturi={uri}",
        "a control character": f"acme.example; accounturi={uri}\n",
    }.items():
        changed = sound.but(caa=Caa([(0, "issue", value)]))
        yield refused("caa-malformed", comment, changed, "StrictCaa")
    mine = f"acme.example; accounturi={uri}"
    unknown = sound.but(caa=Caa([(0, "issue", mine), (128, "tbs", "Unknown")]))
    yield refused("caa-critical-unknown", "a critical property that nobody knows", unknown, "StrictCaa")


def _answers(sound: SoundEvidence) -> Iterator[Test]:
    yield accepted("records on the domain or above it", sound.files)
    for status, code in {
        "NXDOMAIN": "caa-domain-absent",
        "SERVFAIL": "caa-lookup-failed",
        "REFUSED": "caa-lookup-failed",
        "TIMEOUT": "caa-lookup-failed",
        "FORMERR": "caa-lookup-failed",
    }.items():
        yield refused(code, f"DNS answers {status}", sound.but(caa=Caa([], status)), "CaaUnpinned")
    yield refused("caa-absent", "DNS answers that there are no records", sound.but(caa=Caa([])), "CaaUnpinned")
    records = [(0, tag, value) for tag, value in sound.issuer.caa.items()]
    failed = sound.but(caa=Caa(records, "SERVFAIL"))
    yield refused("caa-lookup-failed", "sound records beside SERVFAIL", failed, "CaaUnpinned")


def _account(sound: SoundEvidence) -> Iterator[Test]:
    uri = sound.issuer.account_uri

    def account(**members: object) -> dict[str, str | bytes | None]:
        return sound.but(account=json.dumps(members).encode())

    yield accepted("account_uri in place of uri", account(account_uri=uri), "Variant")
    yield accepted("both, which say the same", account(uri=uri, account_uri=uri), "Variant")
    yield accepted("the whole account as ACME clients keep it", account(uri=uri, body={"status": "valid"}), "Variant")
    for comment, members in rows(
        {
            "neither uri nor account_uri": {"url": uri},
            "uri and account_uri differ": {"uri": uri, "account_uri": uri + "1"},
            "uri is a number": {"uri": 1},
            "uri is a list": {"uri": [uri]},
            "uri is empty": {"uri": ""},
            "uri is http": {"uri": uri.replace("https", "http")},
            "uri has a blank in front": {"uri": " " + uri},
            "uri has a line feed behind it": {"uri": uri + "\n"},
            "uri is a path": {"uri": "/acme/acct/1"},
            "uri is null": {"uri": None},
        }
    ):
        yield refused("acme-account-malformed", comment, account(**members), "Malformed")
    for comment, body in {
        "no JSON": b"uri: " + uri.encode(),
        "an array": json.dumps([uri]).encode(),
        "uri twice": f'{{"uri":"https://acme.example/7","uri":"{uri}"}}'.encode(),
        "text behind the object": json.dumps({"uri": uri}).encode() + b"x",
        "no UTF-8": b'{"uri":"\xff"}',
        "a byte order mark": b"\xef\xbb\xbf" + json.dumps({"uri": uri}).encode(),
        "empty": b"",
    }.items():
        yield refused("acme-account-malformed", comment, sound.but(account=body), "StrictJson")
    other = account(uri="https://acme.example/acme/acct/7")
    yield refused("caa-account-absent", "an account that no record names", other, "CaaAccount")


def _allowed(sound: SoundEvidence) -> Iterator[Test]:
    yield accepted("the contract allows the hash", sound.files)
    yield refused("compose-hash-not-allowed", "the contract does not allow it", sound.but(allowed=False), "NotAllowed")
    unasked = sound.but(allowed=None)
    yield accepted("nobody asked the contract: not offered, which does not refuse", unasked, "NotObserved")
    for size in (19, 21, 32):
        who = replace(sound.who, app_id=bytes(range(1, size + 1)))
        yield refused("app-id-no-address", f"an app id of {size} bytes is no address", sound.but(who=who), "Malformed")


def _observed(sound: SoundEvidence) -> Iterator[Test]:
    observed = json.loads(sound.bodies[OBSERVED])
    for name in ("tls_certificate", "caa"):
        body = json.dumps(observed | {name: None}, indent=1)
        yield accepted(f"{name} was not observed", sound.with_body(OBSERVED, body), "NotObserved")
    for comment, changes in {
        "tls_certificate is no base64": {"tls_certificate": "*"},
        "tls_certificate is PEM": {"tls_certificate": sound.chain.decode()},
        "caa is a list": {"caa": []},
        "a record has no flags": {"caa": {"status": "NOERROR", "records": [{"tag": "issue", "value": ";"}]}},
        "flags of 256": {"caa": {"status": "NOERROR", "records": [{"flags": 256, "tag": "issue", "value": ";"}]}},
        "allowed_compose_hash is a text": {"allowed_compose_hash": "true"},
        "allowed_compose_hash is 1": {"allowed_compose_hash": 1},
        "at is a text": {"at": "2026-03-01"},
        "at is a fraction": {"at": AT + 0.5},
        "at is negative": {"at": -1},
    }.items():
        body = json.dumps(observed | changes, indent=1)
        yield refused("observed-malformed", comment, sound.with_body(OBSERVED, body), "Malformed")
    cut = json.dumps(observed)[:-1]
    yield refused("observed-malformed", "no JSON", sound.with_body(OBSERVED, cut), "StrictJson")
    for comment, at in {
        "before everything was issued": AT - 40 * DAY,
        "after everything expired": AT + 40 * DAY,
    }.items():
        body = json.dumps(observed | {"at": at}, indent=1)
        yield refused("collateral-date", f"observed {comment}", sound.with_body(OBSERVED, body), "Expired")
