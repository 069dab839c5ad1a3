"""Every code that a finding can have: its rule, its requirement, how much it weighs, and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from conformance.verify.results import Rule, Severity


@dataclass(frozen=True)
class Kind:
    """What a code stands for."""

    rule: Rule
    requirement: str | None
    meaning: str
    severity: Severity = Severity.REFUSED


def _kinds(rule: Rule, *rows: tuple[str, str | None, str]) -> dict[str, Kind]:
    return {code: Kind(rule, requirement, meaning) for code, requirement, meaning in rows}


_REFUSED = (
    _kinds(
        Rule.INFO,
        ("info-missing", "ATT-020", "/info was not served"),
        (
            "info-malformed",
            "ATT-020",
            "/info is no strict JSON object with hex app_id and compose_hash and with tcb_info",
        ),
        (
            "app-compose-malformed",
            "ATT-030",
            "app_compose is no strict JSON text with a docker_compose_file that is YAML",
        ),
    )
    | _kinds(
        Rule.ATTESTATION,
        ("attestation-missing", "ATT-040", "/attestation was not served"),
        (
            "attestation-malformed",
            "ATT-040",
            "/attestation is no strict JSON object with quote, event_log and vm_config",
        ),
        ("quote-not-hex", "ATT-050", "the quote is no hex text with an optional 0x"),
        ("quote-layout", "ATT-050", "the quote's bytes are not laid out as a TDX quote"),
        ("event-log-malformed", "ATT-060", "event_log is no JSON text of a list of events with their four members"),
    )
    | _kinds(
        Rule.EVIDENCE_FILES,
        ("listing-missing", "ATT-070", "/evidences/ was not served"),
        ("listing-malformed", "ATT-070", "/evidences/ is no HTML in UTF-8"),
        ("listing-no-certificate", "ATT-070", "the listing links no cert-<domain>.pem of the gateway domain"),
        ("certificate-missing", "ATT-070", "the linked certificate file was not served"),
        ("certificate-malformed", "ATT-070", "the certificate file is no strict PEM of certificates"),
        ("checksums-missing", "ATT-080", "sha256sum.txt was not served"),
        (
            "checksums-malformed",
            "ATT-080",
            "a line of sha256sum.txt is not 64 hex digits and a file name, each name once",
        ),
        ("evidence-missing", "ATT-090", "quote.json was not served"),
        (
            "evidence-malformed",
            "ATT-090",
            "quote.json is no strict JSON object with report_data of 32 to 64 bytes in hex",
        ),
        ("acme-account-missing", "ATT-100", "acme-account.json was not served"),
        ("acme-account-malformed", "ATT-100", "acme-account.json is no strict JSON object with one https account URI"),
        ("checksum-differs", "ATT-110", "the SHA-256 of a file is not that of its line in sha256sum.txt"),
        ("checksum-uncovered", "ATT-110", "sha256sum.txt does not cover the certificate or the ACME account"),
    )
    | _kinds(Rule.COMPOSE_HASH, ("compose-hash-differs", "ATT-150", "the SHA-256 of app_compose is not compose_hash"))
    | _kinds(
        Rule.IMAGE_PINS,
        (
            "compose-ambiguous",
            "ATT-160",
            "the compose file has duplicate or merge keys, tags, or more than one document",
        ),
        ("compose-indirect", "ATT-160", "the compose file builds, extends or includes something that nothing pins"),
        ("image-absent", "ATT-160", "a service has no image, or there is no service"),
        ("image-variable", "ATT-160", "an image is named through a variable"),
        ("image-unpinned", "ATT-160", "an image does not end with @sha256: and exactly 64 hex digits"),
    )
    | _kinds(
        Rule.CHECKSUM_BINDING,
        (
            "checksums-not-bound",
            "ATT-170",
            "report_data of quote.json does not begin with the SHA-256 of sha256sum.txt",
        ),
    )
    | _kinds(
        Rule.TLS_CERTIFICATE,
        ("tls-certificate-differs", "ATT-180", "the certificate served over TLS is not that of the evidence"),
    )
    | _kinds(
        Rule.CAA_ACCOUNT,
        ("caa-lookup-failed", "ATT-190", "DNS gave no answer, so that nothing is known about the CAA records"),
        ("caa-domain-absent", "ATT-190", "the gateway domain does not exist and no parent has CAA records"),
        ("caa-absent", "ATT-190", "neither the gateway domain nor a parent has CAA records: any CA may issue"),
        ("caa-no-issue", "ATT-190", "no issue property permits anybody: nothing pins the account"),
        ("caa-malformed", "ATT-190", "an issue or issuewild value is not as RFC 8659 and RFC 8657 say"),
        ("caa-critical-unknown", "ATT-190", "a critical property that is unknown"),
        ("caa-unpinned", "ATT-190", "an issue or issuewild record permits a CA without naming an account"),
        ("caa-other-account", "ATT-190", "an issue or issuewild record names another account"),
        ("caa-account-absent", "ATT-190", "no record names the evidence's ACME account"),
    )
    | _kinds(
        Rule.EVENT_LOG,
        ("event-none", "ATT-200", "the log has no runtime event"),
        ("event-type", "ATT-200", "an event of the runtime register has another type than 0x08000001"),
        ("event-digest-differs", "ATT-220", "a runtime event's digest is not SHA-384 over type, name and payload"),
    )
    | _kinds(
        Rule.REPORT_DATA,
        ("report-data-not-zero", "ATT-230", "the /attestation quote has report data"),
        ("evidence-quote-missing", "ATT-240", "quote.json holds no quote: nothing binds the certificate to hardware"),
        ("evidence-not-bound", "ATT-240", "the quoted report data does not begin with the SHA-256 of sha256sum.txt"),
    )
    | _kinds(
        Rule.AUTHORISATION,
        ("app-id-no-address", "ATT-250", "app_id is no contract address of 20 bytes"),
        ("compose-hash-not-allowed", "ATT-260", "the authorisation contract does not allow the compose hash"),
    )
    | _kinds(
        Rule.QUOTES,
        ("collateral-missing", "ATT-140", "there is no collateral"),
        ("collateral-malformed", "ATT-140", "the collateral is not the members of QuoteCollateralV3 in their forms"),
        ("collateral-signer", "ATT-140", "TCB info or QE identity is not signed by the root's TCB signing certificate"),
        ("collateral-date", "ATT-140", "part of the collateral or a certificate is expired or not yet valid"),
        ("crl-issuer", "ATT-140", "a revocation list is not that of the CA whose certificates it must list"),
        ("crl-malformed", "ATT-140", "a revocation list is no DER, or has no next update"),
        ("certificate-revoked", "ATT-140", "a certificate of the chain is revoked"),
        ("root-simulated", "ATT-140", "a simulated quote: its root names itself SIMULATED and is not the trusted one"),
        ("root-differs", "ATT-140", "a chain ends in another root certificate than the trusted one"),
        ("quote-version", "ATT-140", "the quote's version, TEE type or key type is not that of a TDX quote"),
        ("quote-vendor", "ATT-140", "the quoting enclave's vendor is not Intel"),
        (
            "certification-type",
            "ATT-140",
            "the certification data is of another type than a QE report with a PCK chain",
        ),
        ("pck-chain", "ATT-140", "the quote's certificate chain is not PCK leaf, PCK CA, root in strict PEM"),
        ("pck-extension", "ATT-140", "the PCK certificate's SGX extension is malformed"),
        ("pck-contradiction", "ATT-140", "CPUSVN contradicts the TCB components of the PCK certificate"),
        ("qe-report", "ATT-140", "the quoting enclave's report has non-zero reserved bytes or upper report data"),
        ("qe-identity", "ATT-140", "the quoting enclave is not the one of the QE identity"),
        ("tdx-module", "ATT-140", "the TDX module is not the one of the TCB info"),
        ("platform-differs", "ATT-140", "TCB info is for another FMSPC, PCE id or TCB type than the PCK certificate"),
        ("signature", "ATT-140", "a signature or chain does not verify"),
        ("td-debug", "ATT-140", "a debug TD: the host can read its memory"),
        ("td-attributes", "ATT-140", "TD attributes that no production TD has"),
        ("tcb-status", "ATT-140", "the platform's TCB status is not among the accepted ones"),
        ("tcb-unmatched", "ATT-140", "no TCB level of the collateral matches the platform"),
        ("tcb-age", None, "the platform's TCB level is older than the policy allows"),
        ("collateral-age", None, "TCB info or QE identity was issued longer ago than the policy allows"),
        ("readings-differ", "ATT-140", "the quote library and this verifier disagree"),
        ("root-unusable", None, "the root certificate that the caller named cannot be read"),
        ("time-unknown", None, "no time is stated, and observed.json gives none"),
    )
    | _kinds(
        Rule.REGISTERS,
        ("register-differs", "ATT-130", "replaying the event log gives another register than the quote's"),
        (
            "event-register",
            "ATT-130",
            "an event that is not for its register: runtime events belong into RTMR3, and no others",
        ),
        ("identity-event-absent", "ATT-130", "the log has no app-id, compose-hash or instance-id before system-ready"),
        ("identity-event-repeated", "ATT-130", "an identity event stands more than once before system-ready"),
        (
            "identity-event-hidden",
            "ATT-130",
            "an event before system-ready has the digest of an identity event under another name",
        ),
        ("measured-compose-hash-differs", "ATT-130", "the measured compose hash is not that of /info"),
        ("measured-app-id-differs", "ATT-130", "the measured app id is not that of /info"),
    )
    | _kinds(
        Rule.EVIDENCE_QUOTE,
        ("evidence-quote-malformed", "ATT-120", "the quote in quote.json is no hex of a TDX quote"),
        ("evidence-report-data-differs", "ATT-120", "report_data of quote.json is not the one inside its quote"),
        ("evidence-event-log-malformed", "ATT-120", "the event log in quote.json is malformed"),
    )
    | _kinds(
        Rule.SAME_MACHINE,
        ("machine-differs", "ATT-300", "the two quotes come from different machines"),
        ("app-differs", "ATT-300", "the two quotes come from different apps"),
        ("app-unproven", "ATT-300", "nothing ties the evidence quote's runtime register to the same app"),
    )
    | _kinds(
        Rule.API_CONNECTION,
        ("api-certificate-differs", "ATT-280", "the connection that served /core/v1 has another certificate"),
    )
    | _kinds(
        Rule.EXPECTED_COMPOSE,
        ("compose-unexpected", None, "the service does not run the compose file that the caller named"),
    )
    | _kinds(
        Rule.BOOT_MEASUREMENTS,
        ("firmware-unexpected", None, "MRTD is that of no measurements that the caller accepts"),
        ("boot-unexpected", None, "RTMR0, RTMR1 or RTMR2 is not that of the measurements that the caller accepts"),
    )
    | _kinds(
        Rule.EXPECTED_IDENTITY,
        ("app-unexpected", None, "the measured app id is not the one that the policy names"),
        ("instance-unexpected", None, "the measured instance id is not the one that the policy names"),
        ("compose-hash-unexpected", None, "the measured compose hash is none that the policy names"),
        ("image-unexpected", None, "an image of the compose file has a digest that the policy does not name"),
        ("os-image-unexpected", None, "the measured OS image hash is none that the policy names, or not measured once"),
        ("key-provider-unexpected", None, "the measured key provider is not the policy's, or not measured once"),
        ("account-unexpected", None, "the evidence's ACME account is none that the policy names"),
    )
    | _kinds(
        Rule.STATEMENT,
        ("statement-missing", None, "the policy names signers, and there is no statement"),
        (
            "statement-malformed",
            None,
            "the statement is no DSSE envelope in strict JSON and base64, nor one in a Sigstore bundle",
        ),
        ("statement-type", None, "what is signed has another type than in-toto statements"),
        ("statement-payload", None, "what is signed is no in-toto Statement v1 with the members of a verdict"),
        ("statement-predicate", None, "the statement is about something else than the result of tests"),
    )
    | _kinds(
        Rule.STATEMENT_SIGNATURE,
        (
            "statement-signature",
            None,
            "a signature is not that of a signer whom the policy names, or a Sigstore bundle does not verify",
        ),
        (
            "signer-unusable",
            None,
            "a signer that the caller named is no public key that can be used, or Sigstore's trusted root is unusable",
        ),
    )
    | _kinds(
        Rule.JUDGED_CODE,
        ("contract-unknown", None, "nothing tells which contract the service uses"),
        ("judged-compose-differs", None, "another app_compose was judged than the one that is measured"),
        ("judged-images-differ", None, "other images were judged than those of the compose file"),
        ("judged-contract-differs", None, "the service was judged with another contract than it uses"),
        ("judged-app-differs", None, "another app was judged than the one that is measured"),
        ("judged-boot-differs", None, "the judged machine booted something else"),
        ("judged-subjects", None, "a subject is missing, stands twice, or is none that a verdict has"),
    )
    | _kinds(
        Rule.JUDGED_RUN,
        ("judged-suite", None, "something else judged than this suite"),
        ("judged-run-contradiction", None, "what the statement says of the run contradicts itself"),
    )
    | _kinds(
        Rule.JUDGED_RESULT,
        ("judged-result", None, "the run ended with a result that the policy does not accept"),
        ("judged-result-contradiction", None, "the result does not follow from the cases and warnings"),
    )
    | _kinds(
        Rule.JUDGED_TIME,
        ("judged-too-old", None, "the run ended longer ago than the policy allows"),
        ("judged-in-future", None, "the run ended later than the time that is verified for"),
    )
)

_OTHERS = {
    "event-version": Kind(Rule.EVENT_LOG, "ATT-220", "an event of another version", Severity.NOT_SUPPORTED),
    "evidence-unsupported": Kind(
        Rule.ATTESTATION,
        "ATT-040",
        "evidence of hardware that is not judged here, such as a GPU's",
        Severity.NOT_SUPPORTED,
    ),
    "tee-unsupported": Kind(Rule.ATTESTATION, "ATT-050", "a quote of another TEE or version", Severity.NOT_SUPPORTED),
    "runner-unsupported": Kind(
        Rule.IMAGE_PINS, "ATT-160", "app_compose is run by something else than docker-compose", Severity.NOT_SUPPORTED
    ),
    "image-unsupported": Kind(
        Rule.IMAGE_PINS, "ATT-160", "the compose file loads something that is no `image:`", Severity.NOT_SUPPORTED
    ),
    "tls-not-offered": Kind(Rule.TLS_CERTIFICATE, "ATT-180", "no TLS certificate was observed", Severity.NOT_OFFERED),
    "caa-not-offered": Kind(Rule.CAA_ACCOUNT, "ATT-190", "no CAA records were asked for", Severity.NOT_OFFERED),
    "authorisation-not-offered": Kind(
        Rule.AUTHORISATION, "ATT-260", "the authorisation contract was not asked", Severity.NOT_OFFERED
    ),
    "api-connection-not-offered": Kind(
        Rule.API_CONNECTION, "ATT-280", "no certificate of the API's connection was observed", Severity.NOT_OFFERED
    ),
    "observed-malformed": Kind(
        Rule.TLS_CERTIFICATE, None, "observed.json is malformed: nothing beside the bodies is known", Severity.REFUSED
    ),
    "verifier-fault": Kind(Rule.QUOTES, None, "an error of the verifier itself; please report it", Severity.REFUSED),
    "not-fresh": Kind(Rule.REPORT_DATA, "ATT-230", "zero report data: the quote may have any age", Severity.NOTE),
    "boot-not-judged": Kind(
        Rule.REGISTERS, "ATT-130", "no measurements were named: nothing tells which system booted", Severity.NOTE
    ),
    "boot-log-absent": Kind(
        Rule.REGISTERS, "ATT-130", "the log has no events of a boot register, which is shown as it is", Severity.NOTE
    ),
    "checksum-unchecked": Kind(
        Rule.EVIDENCE_FILES, "ATT-110", "sha256sum.txt lists a file that is not among the evidence", Severity.NOTE
    ),
    "simulated-root-trusted": Kind(
        Rule.QUOTES, "ATT-140", "the caller trusts a simulated root: no hardware stands behind this", Severity.NOTE
    ),
    "tcb-advisories": Kind(Rule.QUOTES, "ATT-140", "advisories that concern the platform", Severity.NOTE),
    "tcb-status-accepted": Kind(Rule.QUOTES, "ATT-140", "a status that the caller's policy accepts", Severity.NOTE),
    "td-debug-accepted": Kind(Rule.QUOTES, "ATT-140", "a debug TD that the caller's policy accepts", Severity.NOTE),
    "script-beside-compose": Kind(
        Rule.IMAGE_PINS, "ATT-160", "app_compose holds scripts that are measured but not judged", Severity.NOTE
    ),
    "certificate-validity": Kind(
        Rule.TLS_CERTIFICATE, "ATT-180", "the certificate is not valid at this time", Severity.NOTE
    ),
    "certificate-domain": Kind(
        Rule.TLS_CERTIFICATE, "ATT-180", "the certificate does not name the domain of its file", Severity.NOTE
    ),
    "gateway-differs": Kind(
        Rule.CAA_ACCOUNT, "ATT-190", "the gateway domain is not the host that was connected to", Severity.NOTE
    ),
    "judged-with-warnings": Kind(
        Rule.JUDGED_RESULT, None, "why the result is WARNED, which the caller's policy accepts", Severity.NOTE
    ),
    "identity-event-late": Kind(
        Rule.REGISTERS, "ATT-130", "the application wrote an event with the name of an identity event", Severity.NOTE
    ),
    "system-ready-absent": Kind(
        Rule.REGISTERS, "ATT-130", "no system-ready: all runtime events were taken for the system's", Severity.NOTE
    ),
}

FAULTS: Mapping[str, Kind] = MappingProxyType(_REFUSED | _OTHERS)
"""Code to what it stands for."""


class Fault(Exception):  # noqa: N818 - caught within the library and turned into a finding
    """A fault of the evidence, on its way to becoming a finding."""

    def __init__(self, code: str, compared: str, where: str) -> None:
        self.code = code
        self.compared = compared
        self.where = where
        super().__init__(f"{code}: {where}: {compared}")
