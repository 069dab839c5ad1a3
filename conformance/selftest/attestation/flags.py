"""The flags of attestation vectors: what kind of fault a test shows, and what comes of judging it wrongly."""

from __future__ import annotations

_STRICT = "Needlessly refuses what services send."
_FORGED = "Takes what an attacker made for what the hardware, or its vendor, said."
_STALE = "Takes for current what its issuer no longer stands by."
_OTHER = "Takes evidence of something else for evidence of this service."
_AMBIGUOUS = "Can be shown another meaning than other readers see: checked by one, believed by the other."
_WEAK = "Trusts a machine that does not protect what runs on it."

FLAGS: dict[str, tuple[str, str]] = {
    "Valid": ("Sound in every respect.", _STRICT),
    "Variant": ("Sound, in a form that is less common.", _STRICT),
    "Boundary": ("Sound, on the very edge of what is.", _STRICT),
    "HexCase": ("Hex has to be compared as bytes, not as text.", _STRICT),
    "NotObserved": ("What nobody observed is said loudly, and does not refuse.", _STRICT),
    "Truncated": ("Bytes are missing at the end.", "Reads what is not there; parsers crash on it."),
    "TrailingBytes": (
        "Bytes that nothing accounts for.",
        "Nobody signed them: one quote has many encodings, and carries what its reader never sees.",
    ),
    "WrongSize": (
        "A length that does not fit what it measures.",
        "Two readers find two quotes in the same bytes; parsers crash on it.",
    ),
    "WrongType": ("A type or version that is not the one that belongs there.", _AMBIGUOUS),
    "Reserved": (
        "A field that hardware leaves zero is not.",
        "Says nothing of hardware that means something by it: a mode that this reader does not know.",
    ),
    "SignedBytes": ("Something that is signed was changed and not signed again.", _FORGED),
    "WrongSigner": ("Signed soundly, by a key that has no business signing it.", _FORGED),
    "WrongChain": ("A certificate that its issuer may not, or did not, issue; or another one in its place.", _FORGED),
    "WrongRoot": ("A chain that ends in a root that is not trusted.", _FORGED),
    "Simulated": ("A simulated platform, where only hardware is trusted.", _FORGED),
    "Expired": ("Something whose time has passed.", _STALE),
    "NotYetValid": ("Something whose time has not come.", _STALE),
    "Revoked": ("A certificate that its issuer took back.", _STALE),
    "PlatformDiffers": (
        "Collateral for another kind of machine.",
        "Judges a vulnerable machine by what is said of a sound one.",
    ),
    "Contradiction": ("Two statements about one thing that differ.", _AMBIGUOUS),
    "Malformed": ("Not in the form that its specification lays down.", _AMBIGUOUS),
    "Debug": ("A TD or an enclave whose memory others can read.", _WEAK),
    "TdAttributes": ("Attributes that weaken what a TD protects.", _WEAK),
    "TdxModule": ("A TDX module that Intel did not sign as it is.", _WEAK),
    "TcbStatus": ("A platform that is known to be vulnerable, or to need care.", _WEAK),
    "TcbUnmatched": ("A platform that no TCB level describes.", _WEAK),
    "TcbInfo": ("TCB info that is not for this quote, or says nothing clear.", _WEAK),
    "QeIdentity": ("A quoting enclave that is not the vendor's.", _FORGED),
    "Binding": ("Two things that must be the same, or one the other's hash, are not.", _OTHER),
    "EventDigest": ("A digest that is not the one of rule 6.", "Shows events that were never measured."),
    "EventType": ("An event of another type than the rule names.", "Shows events that were never measured."),
    "IdentityEvent": ("What the machine says it runs, absent or said twice.", _OTHER),
    "Replay": ("A log that does not give the registers that the hardware signed.", "Believes a log that was made up."),
    "Unsupported": (
        "Something that a verifier may not be able to judge.",
        "Says that something is fine which it has not looked at.",
    ),
    "Unpinned": (
        "An image, or a part of the file, that can change while the compose hash stays.",
        "Trusts whatever the registry serves next.",
    ),
    "Missing": ("Something that has to be there is not.", "Takes what was not checked for checked."),
    "OtherMachine": ("Evidence of another machine or app.", _OTHER),
    "CaaAccount": (
        "A record for another account.",
        "Others can have a certificate for the domain, and sit in between.",
    ),
    "CaaUnpinned": (
        "A CA may issue to accounts that nobody named.",
        "Others can have a certificate for the domain, and sit in between.",
    ),
    "OtherCode": ("A true statement about other code than answers.", _OTHER),
    "Unjudged": (
        "The run did not judge all that the suite judges, or not with success.",
        "Takes for judged what was not.",
    ),
    "Boot": ("Firmware, machine or kernel are not those that were measured for the image.", _OTHER),
    "Pinned": ("Sound evidence of something else than the caller named.", _OTHER),
    "TooOld": ("Older than the caller allows.", _STALE),
    "NotAllowed": ("The contract does not allow the compose hash.", "Trusts code that its owner did not authorise."),
    "StrictCaa": ("A CAA value that CAs can understand differently.", _AMBIGUOUS),
    "StrictHex": ("Hex with something else in it.", _AMBIGUOUS),
    "StrictJson": ("JSON that two readers can understand differently.", _AMBIGUOUS),
    "StrictPem": ("PEM with more, or less, than certificates in their order.", _AMBIGUOUS),
    "StrictYaml": ("YAML that two readers can understand differently.", _AMBIGUOUS),
}
"""Flag to its description and to the effect on those who trust a verifier that judges it wrongly."""
