"""Carries out acts on a node: requests of a key, or transactions of the admin wallet of a ChainSecured account."""

from __future__ import annotations

from conformance.drivers.model.acts import BUYS, CONVERSION, ON_KEYS, RESTART, Act
from conformance.drivers.model.plan import Planned
from conformance.drivers.model.world import ACTIONS, Permissions, World
from conformance.endpoints.messages import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import ControlNotAccepted, OtherKeyUsed
from conformance.profile.operations import PERMISSION_ARRAYS
from conformance.profile.wire import ZERO_HASH
from conformance.service.acceptance import Accepted
from conformance.service.accounts import ChainSecuredAccount
from conformance.service.actions import ActionCode
from conformance.service.admin_writes import wallet_record
from conformance.service.derivations import account_hash, hashed_cid, usage_key_hash
from conformance.service.execution_rule import ANY
from conformance.service.groups import group_id
from conformance.service.lists import unchanged_list
from conformance.service.minting import BALANCE, NEVER
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.reads import Read
from conformance.service.refusal import must_refuse
from conformance.service.runs import signer_of_message
from conformance.service.session import Session
from conformance.service.usage_keys import Permissions as KeyPermissions
from conformance.service.usage_keys import UsageKeys
from conformance.values.ids import AccountHash, Address, GroupId, PkpId, UsageKeyHash
from conformance.values.json_values import MISSING, member, printed, same_hex

SOURCE = "sign_message"
"""The source of the action that is run."""
READS = {
    "pkp": "list_groups",
    "key": "list_api_keys",
    "wallet": "list_wallets",
    "group": "list_groups",
    "action": "list_actions",
}
"""The list that an operation could change, by the first of these words that is in its name."""
LABELLED = frozenset(
    {
        "add_group",
        "update_group",
        "add_action",
        "update_action_metadata",
        "update_usage_api_key",
        "update_usage_api_key_metadata",
    }
)
"""The contract's functions that take a name and a description."""
LONG_AGO = 1
"""An expiration that is past in seconds and in milliseconds."""


class Acting:
    """The things of one sequence on a node, by the model's names, and what is done with them."""

    def __init__(self, session: Session, *, runs: bool, chain: bool) -> None:
        self.session = session
        self.node = Node(session)
        self._runs = runs
        self._chain = chain
        self._keys: dict[str, str] = {}
        """The values of account keys and usage keys."""
        self._owners: dict[str, ChainSecuredAccount] = {}
        self.hashes: dict[str, str] = {}
        """What the contract calls accounts and usage keys."""
        self.groups: dict[str, GroupId] = {}
        self.wallets: dict[str, Pkp] = {}
        self.actions: dict[str, ActionCode] = {}
        self._accepted: dict[int, Accepted] = {}
        """The requests that were accepted, by the numbers of their acts."""

    # ------------------------------------------------------------------------------------------------ the beginning

    def begin(self, world: World) -> None:
        """Make the accounts, and have the CIDs of the actions."""
        for name, account in world.accounts.items():
            if account.managed:
                self._keys[name] = self.node.accounts.new().key
                if self._chain:
                    self.hashes[name] = account_hash(self._keys[name], self.session.profile)
            else:
                self._owned(name, self.node.accounts.by_wallet(self.node.wallets.new(self._wallet_name(name))))
        for name in ACTIONS:
            self.actions[name] = self._action(name)

    def _owned(self, name: str, account: ChainSecuredAccount) -> None:
        self._owners[name] = account
        self.hashes[name] = account.hash

    def _wallet_name(self, account: str) -> str:
        return f"{account}'s admin {len(self.session.wallets)}"

    def _action(self, name: str) -> ActionCode:
        if self._runs:
            return self.node.actions.prepared(SOURCE, name)
        cid = self.node.actions.sample_cid(name)
        return ActionCode("", cid, hashed_cid(cid))

    # ----------------------------------------------------------------------------------------------------- the acts

    def ask(self, planned: Planned) -> Answer | None:
        """Send what the act asks for; the answer of an accepted request. Raises Departure for another outcome."""
        act = planned.act
        if planned.refused:
            self._must_refuse(planned)
        elif act.operation == RESTART:
            self.node.restarts.stop() if planned.number % 2 else self.node.restarts.kill()
        elif act.operation == BUYS:
            self.node.payments.buy(self._keys[act.account])
        elif planned.sent:
            self._send(act)
        else:
            answer, accepted = self.session.accept(self.request(act))
            self._accepted[planned.number] = accepted
            return answer
        return None

    def note(self, planned: Planned, answer: Answer | None) -> None:
        """Keep what an accepted act made. Raises Departure where it is not there, or no such thing."""
        act = planned.act
        match act.operation:
            case "create_wallet" if answer is not None:
                made = [(answer, self._accepted[planned.number])]
                self.wallets[act.makes] = self.node.pkps.listed(self._keys[act.account], made)[0]
            case "add_group":
                self.groups[act.makes] = self._new_group(act, answer)
            case "add_usage_api_key" if answer is not None:
                self.note_key(act.makes, UsageKeys.value_in(answer))
            case "run_action" if answer is not None:
                self._must_be_signed(act, answer)
            case _ if act.operation == CONVERSION:
                self._keys[f"{act.account}_old"] = self._keys.pop(act.account)

    def _must_refuse(self, planned: Planned) -> None:
        act = planned.act
        control = self._accepted.get(planned.control or 0)
        if control is None:
            raise ControlNotAccepted("an accepted request of the same operation", "none")
        unchanged = [] if act.operation == "run_action" else [self._read_of(act)]
        classes = sorted({name for reason in planned.reasons for name in reason.classes})
        must_refuse(self.session, self.request(act), classes, control=control, unchanged=unchanged)

    def _read_of(self, act: Act) -> Read:
        """A read of a list that the act could change; of the contract where no account key reads any more."""
        what = next((what for what in READS if what in act.operation), "group")
        if act.account in self._keys:
            return unchanged_list(self.session, READS[what], self._keys[act.account])
        view = "list_usage_api_keys" if what == "key" else READS[what]
        return self.node.contract.unchanged_items(view, self.hashes[act.account])

    def _new_group(self, act: Act, answer: Answer | None) -> GroupId:
        listed = member(answer.value, "group_id") if answer is not None else MISSING
        if listed is not MISSING:
            return group_id(listed)
        if act.account in self._keys:
            return group_id(member(member(self.node.groups.list(self._keys[act.account]), "-1"), "id"))
        return group_id(member(member(self.node.contract.items("list_groups", self.hashes[act.account]), "-1"), "id"))

    def note_key(self, name: str, key: str) -> None:
        """Note the value of a usage key."""
        self._keys[name] = key
        if self._chain:
            self.hashes[name] = usage_key_hash(key, self.session.profile)

    def _must_be_signed(self, act: Act, answer: Answer) -> None:
        wallet = self.wallets[act.wallet]
        signer = signer_of_message(self.name_text(act.label), self.node.runs.succeeded(answer).result)
        if not same_hex(signer, wallet.address):
            raise OtherKeyUsed(f"a signature of the wallet {wallet.address}", f"one of {signer}", answer.exchange)

    # ------------------------------------------------------------------------------------------------- by HTTP

    def key(self, name: str) -> str:
        """The value of an account's key, of that key after the conversion, or of a usage key."""
        return self._keys[name]

    def name_text(self, label: str) -> str:
        """The name of the object that the act with this label creates or changes."""
        return f"{self.session.label} {label}"

    def description_text(self, label: str) -> str:
        """The description of the object that the act with this label creates or changes."""
        return f"{self.session.label} described by {label}"

    def request(self, act: Act) -> OutgoingRequest:
        """The act as a request of a key."""
        key = self._keys[act.by]
        if act.operation == "run_action":
            params = {"message": self.name_text(act.label)}
            code = self.actions[act.action].code
            return self.node.runs.request(key, code, pkp_id=self.wallets[act.wallet].id, params=params)
        if act.operation == CONVERSION:
            admin = self.node.wallets.new(self._wallet_name(act.account))
            if act.account in self._keys:
                self._owners[act.account] = ChainSecuredAccount(AccountHash(self.hashes[act.account]), admin)
            return self.node.accounts.conversion(key, admin)
        return self.session.request(act.operation, key, **self._members(act))

    def _members(self, act: Act) -> dict[str, object]:
        name, description = self.name_text(act.label), self.description_text(act.label)
        labels: dict[str, object] = {"name": name, "description": description}
        group: dict[str, object] = {"group_id": self.groups[act.group]} if act.group else {}
        match act.operation:
            case "create_wallet":
                return {}
            case "add_group":
                return {"group_name": name, "group_description": description, **self._lists(act)}
            case "update_group":
                return {**group, **labels, **self._lists(act)}
            case operation if operation in {*ON_KEYS, "add_usage_api_key"}:
                return self._key_members(act, labels)
        members = {**group, "pkp_id": self.pkp_id(act.wallet)} if "pkp" in act.operation else group
        if act.action:
            action = self.actions[act.action]
            by_cid = act.operation.startswith("add")
            members = {**members, **({"action_ipfs_cid": action.cid} if by_cid else {"hashed_cid": action.hash})}
        return {**members, **labels} if act.operation in {"add_action", "update_action_metadata"} else members

    def _lists(self, act: Act) -> dict[str, object]:
        wildcard = self.node.groups.all_actions
        return {
            "pkp_ids_permitted": [self.pkp_id(wallet) for wallet in act.wallets],
            "cid_hashes_permitted": [wildcard if name == ANY else self.actions[name].hash for name in act.actions],
        }

    def pkp_id(self, wallet: str) -> str:
        """The id of a wallet, or the one that stands for all."""
        return ZERO_HASH if wallet == ANY else self.wallets[wallet].id

    def _key_members(self, act: Act, labels: dict[str, object]) -> dict[str, object]:
        members: dict[str, object] = (
            {} if act.operation == "add_usage_api_key" else {"usage_api_key": self._keys[act.key]}
        )
        if act.operation != "remove_usage_api_key":
            members |= labels
        if act.operation in {"add_usage_api_key", "update_usage_api_key"}:
            members |= self._permissions(act.permissions).members
        return members

    def _permissions(self, permissions: Permissions) -> KeyPermissions:
        arrays = {
            name: [0 if group == ANY else self.groups[group] for group in permissions.groups(name)]
            for name in PERMISSION_ARRAYS
        }
        return KeyPermissions().but({**dict.fromkeys(permissions.switches, True), **arrays})

    # ------------------------------------------------------------------------------------------- by transactions

    def _send(self, act: Act) -> None:
        """Send the act as transactions of the admin wallet, after what they need was minted."""
        owner = self._owners[act.account]
        match act.operation:
            case "create_wallet":
                minted = self.node.minting.wallet(owner.admin)
                self.node.minting.register(owner, minted, act.label)
                self.wallets[act.makes] = self._registered(owner, minted.address)
            case "add_usage_api_key":
                key = self.node.minting.usage_key(owner.admin)
                self.node.minting.register(owner, key, act.label)
                self.note_key(act.makes, key.key)
                self._write(act, "set_usage_api_key", *self._attachment(act, key.hash))
            case _:
                self._write(act, act.operation, *self._arguments(act))

    def _registered(self, owner: ChainSecuredAccount, address: Address) -> Pkp:
        record = wallet_record(self.node, owner.hash, address)
        return Pkp(PkpId(printed(member(record, "id"))), address, Accepted("send register_wallet_derivation"))

    def _write(self, act: Act, function: str, *arguments: object) -> None:
        owner = self._owners[act.account]
        self.node.contract.write(owner.admin, function, owner.hash, *arguments)

    def _attachment(self, act: Act, key_hash: UsageKeyHash) -> list[object]:
        until = LONG_AGO if act.expired else self.session.stated(NEVER)
        labels = [self.name_text(act.label), self.description_text(act.label)]
        return [key_hash, until, BALANCE, *labels, *self._permissions(act.permissions).arguments]

    def _arguments(self, act: Act) -> list[object]:
        """The arguments after the account's hash: what it is about, labels, and what a group or a key is given."""
        about: list[object] = [self.groups[act.group]] if act.group else []
        about += [self.hashes[act.key]] if act.key else []
        about += [self.pkp_id(act.wallet)] if act.wallet else []
        about += [self.actions[act.action].hash] if act.action else []
        labels = [self.name_text(act.label), self.description_text(act.label)]
        given: list[object] = []
        if act.operation in {"add_group", "update_group"}:
            given = self._chain_lists(act)
        elif act.operation == "update_usage_api_key":
            given = self._permissions(act.permissions).arguments
        return [*about, *(labels if act.operation in LABELLED else []), *given]

    def _chain_lists(self, act: Act) -> list[object]:
        hashes = [ZERO_HASH if name == ANY else self.actions[name].hash for name in act.actions]
        return [self._lists(act)["pkp_ids_permitted"], hashes]
