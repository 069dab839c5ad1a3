/** The HTTP server: finds the route, checks the key, reads the fields, charges, and writes the answer. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { authenticate, requireAccountKey } from "./access.js";
import { accountRoutes } from "./accounts.js";
import { actionRoutes } from "./actions.js";
import { billingRoutes, providerRoutes } from "./billing.js";
import { chainRoutes } from "./chain.js";
import { groupRoutes } from "./groups.js";
import { keyRoutes } from "./keys.js";
import { openapi, viewer } from "./openapi.js";
import { utf8 } from "./fields.js";
import { conflict, malformed, Problem } from "./problems.js";
import type { Route } from "./routes.js";
import { runRoutes } from "./runs.js";
import { signedRoutes } from "./signed.js";
import { type Node, PRICE_CENTS, recordActions } from "./state.js";
import { walletRoutes } from "./wallets.js";

const PREFIX = "/core/v1";
const MAX_BODY_BYTES = 256 * 1024;

const apiRoutes: readonly Route[] = [
  ...accountRoutes,
  ...keyRoutes,
  ...groupRoutes,
  ...walletRoutes,
  ...actionRoutes,
  ...runRoutes,
  ...chainRoutes,
  ...billingRoutes,
  ...signedRoutes,
];
const routes: readonly Route[] = [
  ...apiRoutes.map((route) => ({ ...route, path: PREFIX + route.path })),
  ...providerRoutes,
];

function routeFor(method: string | undefined, path: string): Route {
  const here = routes.filter((route) => route.path === path);
  const route = here.find((candidate) => candidate.method === method);
  if (route !== undefined) return route;
  if (here.length > 0) throw new Problem(405, "method-not-allowed", `${path} does not take ${method}`);
  throw new Problem(404, "no-such-endpoint", `There is no ${path}`);
}

/** Path and query of a request target, in origin form or, as a proxy gets it, in absolute form. Any text has both. */
function targetOf(target: string): { path: string; query: string } {
  const [, path = "", query = ""] = /^(?:https?:\/\/[^/?#]*)?([^?#]*)\??([^#]*)/i.exec(target) ?? [];
  return { path, query };
}

/** The text of the body; an empty body stands for an object without fields. */
async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Problem(413, "body-too-large", `At most ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return size === 0 ? "{}" : utf8(Buffer.concat(chunks));
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw malformed("The body is no JSON");
  }
}

/** Handle the call and charge the customer for it; a refused call costs nothing. */
async function charged(node: Node, customer: string, cents: number, handle: () => unknown): Promise<unknown> {
  node.charge(customer, cents);
  try {
    return await handle();
  } catch (error) {
    node.addCredit(customer, cents);
    throw error;
  }
}

async function answer(node: Node, request: IncomingMessage): Promise<{ status: number; body: unknown }> {
  const { path, query } = targetOf(request.url ?? "/");
  const route = routeFor(request.method, path);
  const { status } = route;
  const body = route.method === "GET" ? "" : await bodyOf(request);
  const given = route.method === "GET" ? Object.fromEntries(new URLSearchParams(query)) : parsed(body);
  if (route.access === "open" || route.access === "customer") {
    const fields = route.reads.read(given, "body");
    return { status, body: route.handle({ node, fields, body, headers: request.headers }) };
  }
  const caller = authenticate(node, request.headers);
  if (route.access === "account") requireAccountKey(caller);
  const fields = route.reads.read(given, "body");
  if (!caller.account.managed && route.charged === "write") throw conflict("The account is ChainSecured");
  const handle = () => route.handle({ node, caller, fields, body, headers: request.headers });
  const kind = route.charged ?? (node.fault === "reads-charged" && route.path.includes("/list_") ? "write" : undefined);
  if (kind === undefined) return { status, body: handle() };
  const done = await charged(node, caller.account.admin, PRICE_CENTS[kind], handle);
  recordActions(caller.account);
  return { status, body: done };
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" });
  response.end(body);
}

async function serve(node: Node, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === "GET" && request.url === `${PREFIX}/openapi.json`) {
    return send(response, 200, "application/json", JSON.stringify(openapi(apiRoutes, PREFIX)));
  }
  if (request.method === "GET" && request.url === `${PREFIX}/swagger-ui`) {
    return send(response, 200, "text/html", viewer);
  }
  try {
    const { status, body } = await answer(node, request);
    if (status === 204) response.writeHead(204, { "Cache-Control": "no-store" }).end();
    else send(response, status, "application/json", JSON.stringify(body));
  } catch (error) {
    const problem = error instanceof Problem ? error : new Problem(500, "internal", String(error));
    if (problem.status === 500) console.error(error);
    send(response, problem.status, "application/json", JSON.stringify(problem.document()));
  }
}

export function listen(node: Node, port: number): Server {
  return createServer((request, response) => void serve(node, request, response)).listen(port, "127.0.0.1");
}
