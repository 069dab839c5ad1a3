"""Why a step can be inconclusive: the kinds of `Inconclusive`."""

from __future__ import annotations

from importlib.util import find_spec

from conformance.problems.step import Inconclusive


class Unreachable(Inconclusive):
    """Nobody listens at the node's address, or the name does not resolve."""

    code = "unreachable"
    cause = "the node cannot be reached"
    hint = "check --node-url, and that the node runs"


class Unsendable(Inconclusive):
    """A request holds what the node gave and HTTP cannot carry: a key with a line break, for a header."""

    code = "unsendable"
    cause = "a request cannot be sent"
    hint = "keys are base64 text by the specification (Resources / Account API key)"


class Untrusted(Inconclusive):
    """The node's TLS certificate is none that this machine trusts."""

    code = "untrusted"
    cause = "the node's certificate is not trusted"
    hint = "name the certificate's issuer, or the self-signed certificate itself, by --ca-file (docs/network.md)"


class ProxyFault(Inconclusive):
    """A proxy on the way does not connect, or answered in place of the node: 502, 503, 504 over plain HTTP may be its.

    Whether the node saw the request is not known.
    """

    code = "proxy-fault"
    cause = "a proxy stands between the suite and the node"
    hint = "mend the proxy or its variable, or name the node's host in NO_PROXY (docs/network.md)"


class NotRestarted(Inconclusive):
    """The command that restarts the node failed, or the node did not answer again in time."""

    code = "not-restarted"
    cause = "the node did not come back from a restart"
    hint = "try restart.command of the profile by hand, and see whether restart.within_seconds is long enough"


class NodeSilent(Inconclusive):
    """Several requests in a row were not answered in time: no more are sent, and the run ends."""

    code = "node-silent"
    cause = "the node answers nothing any more"
    hint = "look at the node; --timeout and --max-timeouts say how long the suite waits"


class IdleConnectionClosed(Inconclusive):
    """A connection that had carried requests before was closed with no byte of an answer to a request that may count.

    A server may close an idle connection at any time (RFC 9112, 9.5), also while a request is on its way.
    """

    code = "idle-connection-closed"
    cause = "the node closed a kept-alive connection before the answer"
    hint = "nothing tells whether the request was carried out; run the case again"


class NoFunderKey(Inconclusive):
    """The profile names an environment variable for the key of a wallet with ether, and it holds none."""

    code = "no-funder-key"
    cause = "there is no key of a wallet with ether"
    hint = "set the variable, or leave funded_wallet out of the profile's capabilities"


class NoControlToken(Inconclusive):
    """The profile names an environment variable for the token of the test control, and it holds none."""

    code = "no-control-token"
    cause = "there is no token for the test control"
    hint = "set the variable, or leave control_token_variable out of the profile"


class OutOfCredit(Inconclusive):
    """402 where the case does not expect it."""

    code = "out-of-credit"
    cause = "the account has no credit"
    hint = "have the node give new accounts credits; where it never does, the profile says `accounts: {credits: null}`"


class Throttled(Inconclusive):
    """429, or 503 with Retry-After: the node asks to go slower."""

    code = "throttled"
    cause = "the node puts requests off"
    hint = "run with a lower --rate, or see to what the node waits for"


class BeyondLimits(Inconclusive):
    """An answer that is larger than the suite takes in, so that it was not read to its end."""

    code = "beyond-limits"
    cause = "the node's answers go beyond the limits of the suite"
    hint = "docs/limits.md says what an answer may take; have the node answer with less"


class BudgetSpent(Inconclusive):
    """The run's own spending limit is reached."""

    code = "budget-spent"
    cause = "the run's budget is spent"
    hint = "raise --max-spend (cents)"


class PurchasesSpent(Inconclusive):
    """The run has bought as much credit as the profile permits."""

    code = "purchases-spent"
    cause = "the run has bought as much credit as the profile permits"
    hint = "raise payments.most_cents of the profile"


class GasSpent(Inconclusive):
    """The run's own limit of gas is reached."""

    code = "gas-spent"
    cause = "the run's gas is spent"
    hint = "raise --max-gas"


class ChainTrouble(Inconclusive):
    """The settlement chain did not take or mine a transaction of the suite, for reasons that are not the node's."""

    code = "chain-trouble"
    cause = "the settlement chain did not do as asked"
    hint = "check the chain's JSON-RPC, and that the wallet with the suite's ether has enough of it"


class ProviderTrouble(Inconclusive):
    """The payment provider did not do as asked, for reasons that are not the node's."""

    code = "provider-trouble"
    cause = "the payment provider did not do as asked"
    hint = "check payments.provider_url and payments.methods of the profile"


class ProviderRefusesKey(ProviderTrouble):
    """The payment provider does not take the publishable key that the node gave."""

    code = "provider-refuses-key"
    cause = "the payment provider does not take the node's publishable key"
    hint = "check that the key in the node's stripe_config is of the account behind payments.provider_url"


class ProviderLacksIntent(ProviderTrouble):
    """The payment provider does not know the intent that the node gave."""

    code = "provider-lacks-intent"
    cause = "the payment provider does not know the node's payment intent"
    hint = "check that the node makes its intents at payments.provider_url, and that client_secret is the provider's"


class LivePayments(Inconclusive):
    """The node sells credits for real money: the suite pays in test mode alone."""

    code = "live-payments"
    cause = "payments of the node move real money"
    hint = "run the node with keys of the provider's test mode"


class FuzzNotInstalled(Inconclusive):
    """The suite is installed without schemathesis, which generates requests."""

    code = "fuzz-not-installed"
    cause = "schemathesis is not installed"
    hint = "pip install 'service-conformance[fuzz]'"


class VerifierNotInstalled(Inconclusive):
    """The suite is installed without the libraries of the attestation verifier."""

    code = "verifier-not-installed"
    cause = "the libraries of the attestation verifier are not installed"
    hint = "pip install 'service-conformance[attestation]'"

    def __str__(self) -> str:
        return f"{self.cause}: {self.hint}"


VERIFIER_LIBRARIES = ("cryptography", "dcap_qvl", "dns", "securesystemslib")
"""What the extra `attestation` installs, by the names under which `conformance.verify` imports it."""


def require_verifier() -> None:
    """Raise VerifierNotInstalled if a library of the verifier is missing."""
    missing = [name for name in VERIFIER_LIBRARIES if find_spec(name) is None]
    if missing:
        raise VerifierNotInstalled("the libraries of the attestation verifier", f"no {', '.join(missing)}")


class ControlNotAccepted(Inconclusive):
    """The control of a refused step was not reached or not accepted."""

    code = "control-not-accepted"
    cause = "the refusal's control was not accepted, so that the refusal would prove nothing"


class ProfileSilent(Inconclusive):
    """A step needs something that the profile leaves out."""

    code = "profile-silent"
    cause = "the profile does not say what the step needs"
    hint = "name the key in the case's `uses`, or fill it in the profile"
