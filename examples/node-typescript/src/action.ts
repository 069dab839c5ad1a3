/**
 * The process of one run. It evaluates the action in a context of `node:vm` and asks the node for what needs a wallet:
 * no key ever comes here. `runs.ts` starts it and ends it; they speak in lines of JSON.
 */

import { readSync, writeFileSync } from "node:fs";
import { createContext, Script } from "node:vm";

/** The first line that the process reads. */
export interface Order {
  /** The code of the action. */
  readonly code: string;
  /** The request as it was sent: the context reads `jsParams` from it, so that no number changes on the way. */
  readonly body: string;
}

/** A call of `vault`, by its name. The answer is a text: `+` and the result, or `-` and why it was refused. */
export type VaultCall = readonly [name: string, pkpId: string, message: string];

/** What came of the run: what `main` returned, as a text, or why it failed. */
export interface Outcome {
  readonly succeeded: boolean;
  readonly text: string;
  readonly logs: readonly string[];
}

/**
 * Builds, inside the context, what the action sees, and answers the function that runs it. Whatever crosses over is a
 * text. An error of a function of the host (an overflow of the stack is one) is dropped here: it would lead the action
 * to the host's `Function`.
 */
const BOOTSTRAP = `(log, ask, done, body) => {
  "use strict";
  const { Error, String } = globalThis;
  const { stringify } = JSON;
  const parameters = JSON.parse(body).jsParams ?? {};
  const hostsAnswer = (name, pkpId, message) => {
    try { return ask(name, pkpId, message); } catch { return "-the node did not answer"; }
  };
  const call = (name, pkpId, message = "") => {
    const answer = hostsAnswer(name, \`\${pkpId}\`, \`\${message}\`);
    if (answer[0] === "-") throw new Error(answer.slice(1));
    return answer.slice(1);
  };
  const print = (...parts) => {
    const line = \`\${parts.map(String).join(" ")}\`;
    try { log(line); } catch { /* lost */ }
  };
  const told = (error) => {
    try { return String(error); } catch { return "the action threw what has no text"; }
  };
  globalThis.console = { log: print, info: print, warn: print, error: print, debug: print };
  globalThis.vault = {
    addressOf: (pkpId) => call("addressOf", pkpId),
    sign: (pkpId, message) => call("sign", pkpId, message),
  };
  return async (load) => {
    let succeeded = false;
    let text = "";
    try {
      const main = load();
      const value = await main(parameters);
      text = typeof value === "string" ? value : stringify(value) ?? "";
      succeeded = true;
    } catch (error) {
      text = told(error);
    }
    try { done(succeeded, text); } catch { /* the process ends without an outcome */ }
  };
}`;

const write = (line: VaultCall | Outcome): void => writeFileSync(1, `${JSON.stringify(line)}\n`);

/** The next line from the node, which sends one at a time. */
function read(): unknown {
  const chunks: Buffer[] = [];
  do {
    const chunk = Buffer.alloc(64 * 1024);
    const size = readSync(0, chunk);
    if (size === 0) process.exit(1);
    chunks.push(chunk.subarray(0, size));
  } while (chunks.at(-1)?.at(-1) !== 0x0a);
  return JSON.parse(Buffer.concat(chunks).toString());
}

function run({ code, body }: Order): void {
  const logs: string[] = [];
  const context = createContext(Object.create(null) as object);
  const log = (line: string): void => void logs.push(line);
  const ask = (...call: VaultCall): unknown => {
    write(call);
    return read();
  };
  const done = (succeeded: boolean, text: string): void => write({ succeeded, text, logs });
  const load = (): unknown => {
    new Script(code).runInContext(context);
    return new Script("main").runInContext(context);
  };
  const prepare = new Script(BOOTSTRAP).runInContext(context) as (...bridge: unknown[]) => (load: unknown) => void;
  prepare(log, ask, done, body)(load);
}

// An action may leave a rejected promise behind. That is no failure of what it returned.
process.on("unhandledRejection", () => undefined);
run(read() as Order);
