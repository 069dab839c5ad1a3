/** The state of the node, in memory: accounts with their groups, wallets, actions and usage keys, and prepaid credit. */

import { randomBytes, randomInt } from "node:crypto";
import { HDNodeWallet, Mnemonic, Wallet, sha256, type BaseWallet } from "ethers";
import type { Fault } from "./faults.js";
import { outOfCredit } from "./problems.js";

/** The wildcard of the specification in u64 arrays: all groups. */
export const ALL_GROUPS = "0";
/** The wildcard in `pkp_ids_permitted` and, as the node keeps it, in `cid_hashes_permitted`. */
export const EVERYTHING = `0x${"0".repeat(64)}`;
/** What one management write and one run cost, and what a new customer starts with. */
export const PRICE_CENTS = { write: 2, run: 3 } as const;
const TRIAL_CENTS = 2000;

export const FLAGS = ["can_create_groups", "can_delete_groups", "can_create_pkps"] as const;
export const GROUP_LISTS = [
  "manage_ipfs_ids_in_groups",
  "add_pkp_to_groups",
  "remove_pkp_from_groups",
  "execute_in_groups",
] as const;

export type Flag = (typeof FLAGS)[number];
export type GroupList = (typeof GROUP_LISTS)[number];
export type Permissions = Record<Flag, boolean> & Record<GroupList, readonly string[]>;

export interface UsageKey {
  readonly secret: string;
  name: string;
  description: string;
  permissions: Permissions;
}

export interface Pkp {
  readonly id: string;
  readonly path: string;
  readonly wallet: BaseWallet;
}

export interface Group {
  readonly id: string;
  name: string;
  description: string;
  pkps: Set<string>;
  actions: Set<string>;
}

export interface Action {
  name: string;
  description: string;
}

export interface Account {
  readonly secret: string;
  readonly name: string;
  readonly description: string;
  admin: string;
  managed: boolean;
  readonly groups: Map<string, Group>;
  /** Kept for the fault `removed-group-runs` alone. */
  readonly removedGroups: Group[];
  readonly pkps: Map<string, Pkp>;
  /** The registered actions. */
  readonly actions: Map<string, Action>;
  /** Hashed CIDs of all actions of the account, those too that a group alone lists, in the order in which they came. */
  readonly knownActions: Set<string>;
  readonly usageKeys: Map<string, UsageKey>;
}

export interface PaymentIntent {
  readonly customer: string;
  readonly cents: number;
  readonly secret: string;
  state: "open" | "paid" | "credited";
}

/** Who calls: the account key (`usageKey` is null) or one of the account's usage keys. */
export interface Caller {
  readonly account: Account;
  readonly usageKey: UsageKey | null;
}

/** Call after each write: what has come to the account joins its known actions, what is gone from it leaves them. */
export function recordActions({ knownActions, actions, groups }: Account): void {
  const present = new Set([...actions.keys(), ...[...groups.values()].flatMap((group) => [...group.actions])]);
  present.delete(EVERYTHING);
  for (const hash of knownActions) if (!present.has(hash)) knownActions.delete(hash);
  for (const hash of present) knownActions.add(hash);
}

export class Node {
  readonly #root = HDNodeWallet.fromMnemonic(Mnemonic.fromEntropy(randomBytes(32)), "m/44'/60'/0'/0");
  readonly #callers = new Map<string, Caller>();
  readonly #credit = new Map<string, number>();
  /** The payment provider's side: its intents, and the email of each customer who gave one. */
  readonly intents = new Map<string, PaymentIntent>();
  readonly contacts = new Map<string, string>();
  #nextGroup = 4_100_000_000 + randomInt(1_000_000);
  #nextWallet = 0;

  constructor(readonly fault: Fault | undefined) {}

  /** The accounts that this wallet administers. */
  accountsOf(wallet: string): Account[] {
    const accounts = [...this.#callers.values()].map(({ account }) => account);
    return accounts.filter(({ admin }) => admin === wallet);
  }

  callerWith(secret: string): Caller | undefined {
    return this.#callers.get(secret);
  }

  createAccount(name: string, description: string): Account {
    const bytes = randomBytes(48);
    const account: Account = {
      secret: bytes.toString("base64"),
      name,
      description,
      admin: new Wallet(sha256(bytes)).address.toLowerCase(),
      managed: true,
      groups: new Map(),
      removedGroups: [],
      pkps: new Map(),
      actions: new Map(),
      knownActions: new Set(),
      usageKeys: new Map(),
    };
    this.#callers.set(account.secret, { account, usageKey: null });
    return account;
  }

  admitUsageKey(account: Account, usageKey: UsageKey): void {
    account.usageKeys.set(usageKey.secret, usageKey);
    this.#callers.set(usageKey.secret, { account, usageKey });
  }

  dropUsageKey(account: Account, usageKey: UsageKey): void {
    account.usageKeys.delete(usageKey.secret);
    if (this.fault !== "removed-key-lives") this.#callers.delete(usageKey.secret);
  }

  /** A fresh wallet, derived from the node's seed and attached to no account. */
  mint(): Pkp {
    const wallet = this.#root.deriveChild(this.#nextWallet++);
    return { id: sha256(wallet.publicKey), path: wallet.path ?? "", wallet };
  }

  /** Group ids ascend with gaps and are never used twice. */
  nextGroupId(): string {
    this.#nextGroup += randomInt(1, 1000);
    return String(this.#nextGroup);
  }

  /** The credit of a customer, which is an admin address. */
  creditOf(customer: string): number {
    return this.#credit.get(customer) ?? TRIAL_CENTS;
  }

  addCredit(customer: string, cents: number): void {
    this.#credit.set(customer, this.creditOf(customer) + cents);
  }

  charge(customer: string, cents: number): void {
    if (this.creditOf(customer) < cents) throw outOfCredit();
    this.addCredit(customer, -cents);
  }
}
