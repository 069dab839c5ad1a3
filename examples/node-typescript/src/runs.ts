/** Running an action (Execution rule). `node:vm` is no sandbox: an action can reach the host. For tests only. */

import { createContext, Script } from "node:vm";
import { holds } from "./access.js";
import { cidOf, hashedCid } from "./cids.js";
import { anyObject, code, object, optional } from "./fields.js";
import { actionFailed, forbidden } from "./problems.js";
import { keyed, type Route } from "./routes.js";
import { EVERYTHING, type Caller, type Group, type Node, type Pkp } from "./state.js";
import { addressOf } from "./wallets.js";

const TIMEOUT_MS = 4000;

/** The groups in which the caller may run this action. */
function groupsPermitting(node: Node, caller: Caller, action: string): Group[] {
  const kept = node.fault === "removed-group-runs" ? caller.account.removedGroups : [];
  return [...caller.account.groups.values(), ...kept].filter(
    (group) =>
      holds(caller, "execute_in_groups", group.id) && (group.actions.has(EVERYTHING) || group.actions.has(action)),
  );
}

/** What the action reaches through the global `vault`: the wallets that the permitting groups list. */
class Vault {
  refusal: string | null = null;

  constructor(
    readonly groups: readonly Group[],
    readonly pkps: ReadonlyMap<string, Pkp>,
  ) {}

  #open(id: unknown): Pkp {
    const wanted = String(id).toLowerCase();
    const pkp = this.pkps.get(wanted);
    if (pkp === undefined || !this.groups.some(({ pkps }) => pkps.has(EVERYTHING) || pkps.has(wanted))) {
      this.refusal = `No group permits this action and the wallet ${wanted}`;
      throw new Error(this.refusal);
    }
    return pkp;
  }

  addressOf(id: unknown): string {
    return addressOf(this.#open(id));
  }

  /** An EIP-191 signature of the text. */
  signMessage(id: unknown, message: unknown): string {
    return this.#open(id).wallet.signMessageSync(String(message));
  }
}

interface Outcome {
  settled?: string;
  failed?: string;
}

/** Run `main(jsParams)` to its end. Promises settle within the call, so the timeout bounds all that the action does. */
function execute(source: string, jsParams: object, vault: Vault): { response: unknown; logs: string[] } {
  const logs: string[] = [];
  const outcome: Outcome = {};
  const log = (...parts: unknown[]) => logs.push(parts.map(String).join(" "));
  const context = createContext(
    {
      console: { log, info: log, warn: log, error: log },
      vault: {
        addressOf: (id: unknown) => vault.addressOf(id),
        signMessage: (id: unknown, message: unknown) => vault.signMessage(id, message),
      },
      $parameters: JSON.stringify(jsParams),
      $outcome: outcome,
    },
    { microtaskMode: "afterEvaluate" },
  );
  const call = `;(async () => main(JSON.parse($parameters)))().then(
    (value) => { $outcome.settled = JSON.stringify(value) ?? "null"; },
    (error) => { $outcome.failed = String(error); });`;
  try {
    new Script(`${source}\n${call}`).runInContext(context, { timeout: TIMEOUT_MS });
  } catch (error) {
    outcome.failed = String(error);
  }
  if (vault.refusal !== null) throw forbidden(vault.refusal);
  if (outcome.settled === undefined) throw actionFailed(outcome.failed ?? "main did not settle");
  return { response: JSON.parse(outcome.settled), logs };
}

export const runRoutes: readonly Route[] = [
  keyed({
    method: "POST",
    path: "/actions/run",
    access: "key",
    status: 200,
    charged: "run",
    reads: object({ code, jsParams: optional(anyObject, {}) }),
    handle({ node, caller, fields }) {
      const groups = groupsPermitting(node, caller, hashedCid(cidOf(fields.code)));
      if (groups.length === 0) throw forbidden("No group permits this key and this action");
      const split = node.fault === "split-groups" ? [...caller.account.groups.values()] : groups;
      return execute(fields.code, fields.jsParams, new Vault(split, caller.account.pkps));
    },
  }),
];
