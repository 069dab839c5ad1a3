/**
 * Running an action (Execution rule). Each run has a process of its own (`action.ts`), which ends with it or at the time
 * limit: whatever an action does, the node goes on answering. `node:vm` is no sandbox all the same: for tests only.
 */

import { spawn, type ChildProcess, type ChildProcessByStdio } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { holds } from "./access.js";
import type { Order, Outcome, VaultCall } from "./action.js";
import { cidOf, hashedCid } from "./cids.js";
import { anyObject, code, object, optional } from "./fields.js";
import { actionFailed, forbidden } from "./problems.js";
import { keyed, type Route } from "./routes.js";
import { EVERYTHING, type Caller, type Group, type Node, type Pkp } from "./state.js";
import { addressOf } from "./wallets.js";

const TIMEOUT_MS = 4000;
const MEMORY_MB = 64;
/** The most that a run may tell: its calls of `vault`, `response` and `logs`. */
const MAX_BYTES = 1024 * 1024;
const PROGRAM = fileURLToPath(new URL("./action.js", import.meta.url));
/** A failed import() gives an action an error of the host, whose Function would otherwise compile code there. */
const OPTIONS = [`--max-old-space-size=${MEMORY_MB}`, "--disallow-code-generation-from-strings"];

/** The groups in which the caller may run this action. A group without wallets permits no run. */
function groupsPermitting(node: Node, caller: Caller, action: string): Group[] {
  const kept = node.fault === "removed-group-runs" ? caller.account.removedGroups : [];
  return [...caller.account.groups.values(), ...kept].filter(
    (group) =>
      holds(caller, "execute_in_groups", group.id) &&
      (group.actions.has(EVERYTHING) || group.actions.has(action)) &&
      group.pkps.size > 0,
  );
}

/** What the action reaches through the global `vault`: the wallets that the permitting groups list at that moment. */
class Vault {
  refusal: string | null = null;

  constructor(
    readonly permitting: () => readonly Group[],
    readonly pkps: ReadonlyMap<string, Pkp>,
  ) {}

  #open(id: string): Pkp | undefined {
    const wanted = id.toLowerCase();
    const permitted = this.permitting().some(({ pkps }) => pkps.has(EVERYTHING) || pkps.has(wanted));
    return permitted ? this.pkps.get(wanted) : undefined;
  }

  /** The wallet's address, or its EIP-191 signature of the message. */
  answer([name, pkpId, message]: VaultCall): string {
    const pkp = this.#open(pkpId);
    if (pkp === undefined) {
      this.refusal = `No group permits this action and the wallet ${pkpId}`;
      return `-${this.refusal}`;
    }
    if (name === "addressOf") return `+${addressOf(pkp)}`;
    return message.isWellFormed() ? `+${pkp.wallet.signMessageSync(message)}` : "-The message is not well-formed";
  }
}

const running = new Set<ChildProcess>();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

function started(): ChildProcessByStdio<Writable, Readable, null> {
  const child = spawn(process.execPath, [...OPTIONS, PROGRAM], { env: {}, stdio: ["pipe", "pipe", "ignore"] });
  running.add(child);
  child.on("close", () => running.delete(child));
  child.stdin.on("error", () => undefined); // it has ended: "close" tells
  return child;
}

/** What comes of a run that ends without an outcome, or does not end. */
const failure = (text: string): Outcome => ({ succeeded: false, text, logs: [] });

/** The outcome in a line, which an action that has reached the host may have written. */
const outcomeIn = ({ succeeded, text, logs }: Outcome): Outcome => ({
  succeeded: succeeded === true,
  text: String(text),
  logs: logs.map(String),
});

/** Run the action to its end, at most `TIMEOUT_MS`. Nothing of it lives on. */
async function outcomeOf(order: Order, vault: Vault): Promise<Outcome> {
  const child = started();
  const send = (line: unknown) => child.stdin.write(`${JSON.stringify(line)}\n`);
  const lines = createInterface(child.stdout);
  let timer: NodeJS.Timeout | undefined;
  const outcome = new Promise<Outcome>((resolve) => {
    let characters = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      characters += chunk.length;
      if (characters > MAX_BYTES) resolve(failure(`The action told over ${MAX_BYTES} bytes`));
    });
    lines.on("line", (line) => {
      try {
        const told = JSON.parse(line) as VaultCall | Outcome;
        if (Array.isArray(told)) send(vault.answer(told.map(String) as unknown as VaultCall));
        else resolve(outcomeIn(told as Outcome));
      } catch (error) {
        resolve(failure(String(error)));
      }
    });
    child.on("close", () => resolve(failure("The action ended before main settled")));
    timer = setTimeout(() => resolve(failure(`The action took over ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
    send(order);
  });
  try {
    return await outcome;
  } finally {
    clearTimeout(timer);
    lines.close();
    child.kill("SIGKILL");
  }
}

/** A refused wallet refuses the request, unless the action caught the refusal and came to its end. */
function answerOf({ succeeded, text, logs }: Outcome, vault: Vault): object {
  if (!succeeded) throw vault.refusal === null ? actionFailed(text) : forbidden(vault.refusal);
  return { response: text, logs };
}

export const runRoutes: readonly Route[] = [
  keyed({
    method: "POST",
    path: "/actions/run",
    access: "key",
    status: 200,
    charged: "run",
    reads: object({ code, jsParams: optional(anyObject, {}) }),
    async handle({ node, caller, fields, body }) {
      const action = hashedCid(cidOf(fields.code));
      const permitting = () => groupsPermitting(node, caller, action);
      if (permitting().length === 0) throw forbidden("No group permits this key and this action");
      const split = () => (node.fault === "split-groups" ? [...caller.account.groups.values()] : permitting());
      const vault = new Vault(split, caller.account.pkps);
      return answerOf(await outcomeOf({ code: fields.code, body }, vault), vault);
    },
  }),
];
