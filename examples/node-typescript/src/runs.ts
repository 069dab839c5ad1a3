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

  #open(id: string): Pkp {
    const wanted = id.toLowerCase();
    const pkp = this.pkps.get(wanted);
    if (pkp === undefined || !this.groups.some(({ pkps }) => pkps.has(EVERYTHING) || pkps.has(wanted))) {
      this.refusal = `No group permits this action and the wallet ${wanted}`;
      throw new Error(this.refusal);
    }
    return pkp;
  }

  addressOf(id: string): string {
    return addressOf(this.#open(id));
  }

  /** An EIP-191 signature of the text. */
  signMessage(id: string, message: string): string {
    return this.#open(id).wallet.signMessageSync(message);
  }
}

/**
 * Builds, inside the context, what the action sees: `console` and `vault`. Functions of the host stay hidden behind it:
 * each of them would lead the action to the host's `Function`.
 */
const BOOTSTRAP = `(log, ask) => {
  const print = (...parts) => log(parts.map(String).join(" "));
  const call = (name, ...values) => {
    const { answer, refusal } = JSON.parse(ask(name, JSON.stringify(values.map(String))));
    if (refusal !== null) throw new Error(refusal);
    return answer;
  };
  globalThis.console = { log: print, info: print, warn: print, error: print };
  globalThis.vault = {
    addressOf: (pkpId) => call("addressOf", pkpId),
    signMessage: (pkpId, message) => call("signMessage", pkpId, message),
  };
}`;

/** Answers a call of the action's `vault`, in JSON. */
function answerCall(vault: Vault, name: string, json: string): string {
  const [pkp = "", message = ""] = JSON.parse(json) as string[];
  try {
    const answer = name === "signMessage" ? vault.signMessage(pkp, message) : vault.addressOf(pkp);
    return JSON.stringify({ answer, refusal: null });
  } catch (error) {
    return JSON.stringify({ answer: null, refusal: String(error) });
  }
}

/** The script that runs `main`. Its value is an object that tells, once all promises have settled, what came of it. */
function scriptOf(source: string, jsParams: object): Script {
  const parameters = JSON.stringify(JSON.stringify(jsParams));
  return new Script(`${source}
;(() => {
  const outcome = {};
  (async () => JSON.stringify(await main(JSON.parse(${parameters}))) ?? "null")().then(
    (settled) => { outcome.settled = settled; },
    (error) => { outcome.failed = String(error); });
  return outcome;
})()`);
}

/** Run `main(jsParams)` to its end. Promises settle within the call, so the timeout bounds all that the action does. */
function execute(source: string, jsParams: object, vault: Vault): { response: unknown; logs: string[] } {
  const logs: string[] = [];
  const context = createContext(Object.create(null) as object, { microtaskMode: "afterEvaluate" });
  const prepare = new Script(BOOTSTRAP).runInContext(context) as (...bridge: unknown[]) => void;
  prepare(
    (line: string) => void logs.push(line),
    (name: string, json: string) => answerCall(vault, name, json),
  );
  try {
    const outcome = scriptOf(source, jsParams).runInContext(context, { timeout: TIMEOUT_MS }) as Outcome;
    if (outcome.settled === undefined) throw new Error(outcome.failed ?? "main did not settle");
    if (vault.refusal === null) return { response: JSON.parse(outcome.settled), logs };
  } catch (error) {
    if (vault.refusal === null) throw actionFailed(String(error));
  }
  throw forbidden(vault.refusal);
}

interface Outcome {
  readonly settled?: string;
  readonly failed?: string;
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
