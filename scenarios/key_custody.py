"""Custody of the wallets' keys.

Whose key a run uses is read off what it signs; a private key crosses the wire only under a mask that the case has
drawn. Specification: "What the service does" 1 and 2, "Resources and their fields / Wallet (PKP)".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from conformance.cases import Judge, case
from conformance.profile.wire import ZERO_HASH
from conformance.service.at_once import send_at_once
from conformance.service.bindings import bound
from conformance.service.derivations import ID_RULE, pkp_id_in, random_hash
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.refusal import was_accepted
from conformance.service.runs import Run, address_of_private_key, signer_of_digest, signer_of_message, unmasked
from conformance.service.secrets_search import wallets_leaked_by, witnessed
from conformance.service.suite_wallet import SuiteWallet
from conformance.service.usage_keys import Permissions
from conformance.values.ids import ApiKey, GroupId, PkpId, UsageKey
from conformance.values.json_values import member, printed
from conformance.values.typed_data import Wallet

NEEDS = ("managed_accounts",)
FORMS = "wire.group.cid_wildcard_form"
LISTS = "auth.usage_key_permission.lists"
NAMED_BY = "exec.pkp_selection.named_by"
TEXTS = {
    "of two words": "a message",
    "empty": "",
    "of several scripts": "zw\u00f6lf \u4e8c \U0001f600 e\u0301\n",
    "long": "zw\u00f6lf \u4e8c " * 200,
    # As a message a hash is a text like any other (EIP-191).
    "of hex digits": "deadbeef",
    "of digits": "0042",
    "with blanks around": " a\t",
    "with a character zero": "a\0b",
    "like JSON": '{"a": 1}',
    "like a hash": f"0x{255:064x}",
}
LOOKS = r"""
// Every value within reach of the globals, whatever its name.
async function main(params) {
  const seen = new Set();
  const texts = [];
  const walk = (value, depth) => {
    if (typeof value === "string" || typeof value === "bigint") texts.push(String(value));
    if (value instanceof Uint8Array) texts.push(Array.from(value, byte => byte.toString(16).padStart(2, "0")).join(""));
    if ((typeof value !== "object" && typeof value !== "function") || value === null) return;
    if (depth > 6 || seen.size > 5000 || seen.has(value)) return;
    seen.add(value);
    for (const name of Reflect.ownKeys(value)) {
      try { walk(value[name], depth + 1); } catch {}
    }
    if (typeof value === "function") texts.push(Function.prototype.toString.call(value));
  };
  walk(globalThis, 0);
  const long = texts.filter(text => text.length >= 32 && !text.includes("[native code]"));
  console.log(long.join("\n").slice(0, 50000));
  return {count: texts.length, long: long.map(text => text.slice(0, 2000)).slice(0, 200)};
}
"""


@dataclass(frozen=True)
class TwoWallets:
    """An account with two wallets and a group in which every action may use them."""

    node: Node
    owner: ApiKey
    key: UsageKey
    """Executes in the group."""
    p: Pkp
    q: Pkp
    group: GroupId

    def run(self, code: str, pkp: Pkp, **params: object) -> Run:
        """Run code that uses a wallet."""
        return self.node.runs.run(self.key, code, pkp_id=pkp.id, params=params)


def two_wallets(node: Node) -> TwoWallets:
    """Make them in a fresh account."""
    owner = node.accounts.new().key
    p, q = node.pkps.create_several(owner, 2)
    group = bound(node, owner, [p, q], [node.groups.all_actions])
    return TwoWallets(node, owner, node.usage_keys.executing_in(owner, group), p, q, group)


# --------------------------------------------------------------------------------------------------- whose key it is


@case("wallets-of-usage-keys-sign", requirements=["PKP-140", "PKP-170", "PKP-180"], needs=NEEDS, uses=[FORMS])
def wallets_of_usage_keys_sign(judge: Judge, node: Node) -> None:
    """A wallet that a usage key creates signs with the key of its own address, and its id counts in capitals, too."""
    alice, x = node.accounts.new().key, node.actions.source("sign_message")
    node.pkps.creations(alice, 2)
    key = node.usage_keys.add(alice, Permissions(can_create_pkps=True, execute_in_groups=[0])).key
    (p,) = node.pkps.listed(alice, node.pkps.creations(key, 1))
    capitals, small = (replace(p, id=PkpId(own)) for own in (f"0x{p.id[2:].upper()}", p.id.lower()))
    with judge("PKP-140"):
        bound(node, alice, [capitals], [node.groups.all_actions])
    for who, named, about in (
        (key, p, "PKP-180"),
        (alice, p, "PKP-180"),
        (key, capitals, "PKP-140"),
        (key, small, "PKP-140"),
    ):
        runs: list[Run] = []
        with judge.apart(about):
            runs.append(node.runs.must_succeed(node.signing.request(who, x, named)))
        for run in runs:
            with judge.apart("PKP-170"):
                node.signing.signed(run.answer, p)


@case("same-key-later", requirements=["PKP-100"], needs=[*NEEDS, "clock_control"], uses=[FORMS])
def same_key_later(judge: Judge, node: Node) -> None:
    """A wallet has the same key after an hour, after a day and after a year."""
    on, code = two_wallets(node), node.actions.source("sign_message")
    for seconds in (0, 3_600, 86_400, 365 * 86_400):
        node.clock.move(seconds)
        with judge.apart():
            node.signing.must_sign(on.key, code, on.p)


@case("listing-a-wallet-of-another-account", requirements=["PKP-150"], needs=NEEDS, uses=[FORMS])
def listing_a_wallet_of_another_account(judge: Judge, node: Node) -> None:
    """An account gains no use of another account's wallet by listing it in a group of its own."""
    bob, code, everything = node.accounts.new().key, node.actions.source("sign_message"), [node.groups.all_actions]
    r = node.pkps.create(bob)
    bound(node, bob, [r], everything)
    control = node.signing.must_sign(node.usage_keys.executing_in(bob, 0), code, r).accepted
    alice = node.accounts.new().key
    key = node.usage_keys.executing_in(alice, 0)
    listing = node.groups.creation(alice, "listing", pkp_ids=[r.id], cid_hashes=everything)
    g = node.groups.add(alice, "all", pkp_ids=[ZERO_HASH], cid_hashes=everything).id
    addition = node.session.request("add_pkp_to_group", alice, group_id=g, pkp_id=r.id)
    lists: dict[str, object] = {"pkp_ids_permitted": [r.id, ZERO_HASH], "cid_hashes_permitted": everything}
    labels = {"name": node.label, "description": "d"}
    update = node.session.request("update_group", alice, group_id=g, **labels, **lists)
    with judge():
        # Whether the entry is refused is for the profile (PKP-160).
        for request in (listing, addition, update):
            was_accepted(node.session, node.session.send(request), or_refused=["any"])
        for who in (alice, key):
            node.signing.must_be_refused(who, code, r, control=control)


@case(
    "messages-are-signed-with-the-wallets-key",
    requirements=["PKP-170", "EXEC-190"],
    needs=NEEDS,
    uses=[FORMS],
)
def messages_are_signed_with_the_wallets_key(judge: Judge, node: Node) -> None:
    """A message is signed with the key of the wallet's address, whatever it says."""
    on = two_wallets(node)
    code = node.actions.source("sign_message")
    for pkp, texts in ((on.p, TEXTS), (on.q, ["of two words"])):
        for name in texts:
            with judge("EXEC-190"):
                signature = on.run(code, pkp, message=TEXTS[name]).result
            with judge("EXEC-190", "PKP-170"):
                judge.same_hex(signer_of_message(TEXTS[name], signature), pkp.address, f"the signer of a text {name}")
    messages = [f"{node.label} {number}" for number in range(5)]
    with judge("EXEC-190"):
        result = on.run(node.actions.source("sign_at_once"), on.p, messages=messages).result
    for number, text in enumerate(messages):
        with judge.apart("EXEC-190", "PKP-170"):
            signature = member(member(result, "signatures"), str(number))
            judge.same_hex(
                signer_of_message(text, signature), on.p.address, f"the signer of text {number} beside others"
            )


@case(
    "wallets-used-at-once-sign-each-for-itself",
    requirements=["PKP-170", "EXEC-190"],
    needs=NEEDS,
    uses=[FORMS, {NAMED_BY: "sandbox_call"}],
)
def wallets_used_at_once_sign_each_for_itself(judge: Judge, node: Node) -> None:
    """Two wallets that one run uses at the same time sign each with its own key."""
    on = two_wallets(node)
    turns = (on.p, on.q, on.q, on.p, on.p, on.q)
    with judge("EXEC-190"):
        code = node.actions.source("sign_by_several")
        result = on.run(code, on.p, message=node.label, wallets=[pkp.id for pkp in turns]).result
    for number, pkp in enumerate(turns):
        with judge.apart("EXEC-190", "PKP-170"):
            signature = member(member(result, "signatures"), str(number))
            judge.same_hex(
                signer_of_message(node.label, signature), pkp.address, f"the signer of call {number} of several"
            )


@case(
    "digests-are-signed-with-the-wallets-key",
    requirements=["PKP-170", "EXEC-190"],
    needs=NEEDS,
    uses=[FORMS],
)
def digests_are_signed_with_the_wallets_key(judge: Judge, node: Node) -> None:
    """A digest is signed as it is, with the key of the wallet's address."""
    on = two_wallets(node)
    code = node.actions.source("sign_digest")
    drawn = random_hash(node.session.random)
    for pkp, digest in ((on.p, drawn), (on.q, drawn), (on.p, f"0x{1:064x}"), (on.q, f"0x{'f' * 64}")):
        with judge("EXEC-190"):
            signature = on.run(code, pkp, digest=digest).result
        with judge("EXEC-190", "PKP-170"):
            judge.same_hex(signer_of_digest(digest, signature), pkp.address, f"the signer of the digest {digest}")
    if node.session.target.profile_value(NAMED_BY) == "sandbox_call":
        with judge("EXEC-190"):
            code = node.actions.source("sign_digest_by_several")
            result = on.run(code, on.p, digest=drawn, wallets=[on.p.id, on.q.id]).result
        for number, pkp in enumerate((on.p, on.q)):
            with judge.apart("EXEC-190", "PKP-170"):
                signature = member(member(result, "signatures"), str(number))
                judge.same_hex(
                    signer_of_digest(drawn, signature), pkp.address, f"the signer of call {number} in one run"
                )


def lists_without(on: TwoWallets, admin: SuiteWallet) -> str:
    """Convert the account to one of its wallets: the list of its wallets, where that lacks it; else nothing.

    Nothing as well where the conversion is refused, or usage keys may not list.
    """
    session = on.node.session
    if not session.profile.offers("wallet_signed"):
        return ""
    answer = session.send(on.node.accounts.conversion(on.owner, admin))
    converted = was_accepted(session, answer, or_refused=["any"])
    if not converted or session.target.profile_value(LISTS) != "any_key":
        return ""
    listed = printed(on.node.pkps.list(on.key))
    shown = {on.p.id.lower(), on.p.address.lower()}
    return "" if any(one in listed.lower() for one in shown) else listed


@case(
    "the-private-key-is-the-wallets",
    requirements=["PKP-170", "EXEC-190", "MODE-060", "BILL-260"],
    needs=NEEDS,
    uses=[FORMS],
)
def the_private_key_is_the_wallets(judge: Judge, node: Node) -> None:
    """The private key that an action gets is the key of the wallet's address.

    An account that is converted to one of its own wallets keeps this wallet, and no other one is taken for the admin.
    """
    on = two_wallets(node)
    code = node.actions.source("masked_key")
    mask = random_hash(node.session.random)
    wallets = []
    for pkp in (on.p, on.q):
        with judge("EXEC-190"):
            masked = on.run(code, pkp, mask=mask).result
        with judge("EXEC-190", "PKP-170"):
            judge.same_hex(address_of_private_key(masked, mask), pkp.address, "the address of the private key")
        wallets.append(SuiteWallet(pkp.address, Wallet.of_key(unmasked(masked, mask))))
    admin, other = wallets
    lacking, profile = lists_without(on, admin), node.session.profile
    shows_credit = profile.wire.x_wallet_auth.encoding is not None and profile.wire.billing.fields is not None
    shows_credit = shows_credit and all(map(profile.offers, ("billing", "wallet_signed")))
    with judge.apart("MODE-060"):
        judge.that(not lacking, f"a list with {admin.address}, which has become the admin", lacking)
    with judge.apart("BILL-260"):
        credit = node.payments.credit_by(other) if shows_credit else 0
        judge.same(credit, 0, "the balance of a wallet that is no account's admin")


# -------------------------------------------------------------------------------------------- the same, and its own


@case("same-key-every-time", requirements=["PKP-100"], needs=NEEDS, uses=[FORMS])
def same_key_every_time(judge: Judge, node: Node) -> None:
    """A wallet has the same key in each run, for every key, group and action, one after the other and at once."""
    on = two_wallets(node)
    many, one = node.actions.source("sign_many"), node.actions.source("sign_message")
    texts = [f"{node.label} {number}" for number in (1, 2, 1)]
    with judge():
        result = on.run(many, on.p, messages=texts).result
    for number, text in enumerate(texts):
        with judge.apart():
            signer = signer_of_message(text, member(member(result, "signatures"), str(number)))
            judge.same_hex(signer, on.p.address, "the signer of each text in one run")
    answers = send_at_once(node.session, [node.signing.request(on.key, one, on.p)] * 6)
    judge.set_up(all(answer.accepted for answer in answers), "six runs at the same time")
    with judge():
        for answer in answers:
            node.signing.signed(answer, on.p)
    # Through another group, with another key, after other wallets were made.
    node.pkps.create(on.owner)
    h = bound(node, on.owner, [on.p], [node.groups.all_actions])
    node.groups.remove(on.owner, on.group)
    another = node.usage_keys.executing_in(on.owner, h)
    with judge():
        node.signing.must_sign(another, one, on.p)
        listed = pkp_id_in(node.pkps.list(on.owner), on.p.address, node.session.target.profile_value(ID_RULE))
        judge.same_hex(listed, on.p.id, "the id of the wallet")


@case("signatures-share-no-number", requirements=["PKP-090"], needs=NEEDS, uses=[FORMS])
def signatures_share_no_number(judge: Judge, node: Node) -> None:
    """Neither two texts nor two wallets share the first half of a signature, which would give keys away."""
    on = two_wallets(node)
    many, one = node.actions.source("sign_many"), node.actions.source("sign_message")
    result = on.run(many, on.p, messages=["a", "b", "c"]).result
    signatures = [member(member(result, "signatures"), str(number)) for number in range(3)]
    signatures += [on.run(one, pkp, message=text).result for text, pkp in (("d", on.p), ("e", on.q), ("a", on.q))]
    for text, signature in zip("abcdea", signatures, strict=True):
        signer_of_message(text, signature)  # What is no signature is nothing to compare.
    with judge():
        halves = {str(signature).removeprefix("0x")[:64].lower() for signature in signatures}
        judge.that(len(halves) == len(signatures), "a number of its own in each of six signatures", signatures)


@case(
    "accounts-share-no-key",
    requirements=["PKP-150", "PKP-170", "EXEC-190", "KEYLIFE-180"],
    needs=NEEDS,
    uses=[FORMS],
)
def accounts_share_no_key(judge: Judge, node: Node) -> None:
    """No two wallets of two accounts have one key, and each account's runs sign with its own.

    They go on when the other account has tried to remove the key that runs them.
    """
    bob, alice = node.accounts.new(), node.accounts.new()
    r = node.pkps.create(bob.key)
    p, q = node.pkps.create_several(alice.key, 2)
    bobs, alices = (
        node.usage_keys.executing_in(owner, bound(node, owner, pkps, [node.groups.all_actions]))
        for owner, pkps in ((bob.key, [r]), (alice.key, [p, q]))
    )
    code = node.actions.source("sign_message")
    with judge("PKP-150"):
        addresses = [r.address, p.address, q.address, bob.wallet_address, alice.wallet_address]
        judge.that(len({one.lower() for one in addresses}) == 5, "a key of its own for each wallet", addresses)
    removal = node.session.request("remove_usage_api_key", alice.key, usage_api_key=bobs)
    for key, pkp, about in (
        (bobs, r, "EXEC-190"),
        (alices, p, "EXEC-190"),
        (alices, q, "EXEC-190"),
        (bobs, r, "KEYLIFE-180"),
    ):
        if about == "KEYLIFE-180":
            was_accepted(node.session, node.session.send(removal), or_refused=["any"])
        with judge(about):
            run = node.runs.must_succeed(node.signing.request(key, code, pkp))
        with judge("EXEC-190", "PKP-170"):
            judge.same_hex(
                signer_of_message(node.label, run.result),
                pkp.address,
                "the signer of the text, who is the wallet that the run names,",
            )
    # The wallet of another account is none of one's own, whatever one's groups permit.
    for key, pkp in ((alices, r), (bobs, p)):
        with judge.apart("PKP-150"):
            node.signing.must_be_refused(key, code, pkp, control=run.accepted)


# ------------------------------------------------------------------------------------------------------ nothing leaks


ODD_VALUES: Sequence[object] = (
    "",
    "0x",
    "0x12",
    f"0x{'zz' * 32}",
    f"0x{'12' * 33}",
    "no digest",
    7,
    None,
    True,
    ["a"],
    {"b": 1},
)
"""What is no digest; the part that is no text is no message either."""


@case(
    "failed-signings-reveal-no-key",
    requirements=["PKP-090"],
    needs=NEEDS,
    uses=[FORMS],
    each={"messages": ("sign_message", "message"), "digests": ("sign_digest", "digest")},
)
def failed_signings_reveal_no_key(judge: Judge, node: Node, row: tuple[str, str]) -> None:
    """A run that fails to sign what is no message, or no digest, reveals no private key."""
    answers = witnessed(node.session)
    on = two_wallets(node)
    source, name = row
    code = node.actions.source(source)
    on.run(code, on.p, **{name: random_hash(node.session.random)})
    for value in ODD_VALUES:
        node.session.send(node.runs.request(on.key, code, pkp_id=on.p.id, params={name: value}))
    node.session.send(node.runs.request(on.key, code, pkp_id=on.p.id))
    leaked = wallets_leaked_by(answers)
    with judge():
        judge.that(on.p.address.lower() not in leaked, f"nothing that is the private key of {on.p.address}", "that key")


@case("runs-reveal-no-key-material", requirements=["PKP-090"], needs=NEEDS, uses=[FORMS])
def runs_reveal_no_key_material(judge: Judge, node: Node) -> None:
    """Neither what runs answer and log nor what the sandbox shows holds the key of a wallet that was not asked for."""
    answers = witnessed(node.session)
    on = two_wallets(node)
    bobs = node.usage_keys.executing_in(node.accounts.new().key)
    sign = node.actions.source("sign_message")
    run = node.signing.must_sign(on.key, sign, on.p)
    on.run(node.actions.source("sign_many"), on.p, messages=["a", "b", "c", "d"])
    on.run(LOOKS, on.p)
    node.signing.must_be_refused(bobs, sign, on.p, control=run.accepted)
    node.pkps.list(on.owner)
    leaked = wallets_leaked_by(answers)
    for pkp in (on.p, on.q):
        with judge.apart():
            judge.that(
                pkp.address.lower() not in leaked, f"nothing that is the private key of {pkp.address}", "that key"
            )
