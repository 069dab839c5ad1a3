/** Prepaid credit. The payment provider is played by the node: `/sandbox/pay` stands for the customer's card. */

import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { authenticate } from "./access.js";
import { integer, nothing, object, text } from "./fields.js";
import { conflict, unknown } from "./problems.js";
import { open, type Route } from "./routes.js";
import { walletProof } from "./signed.js";
import type { Node } from "./state.js";

const MINIMUM_CENTS = 500;
const MAXIMUM_CENTS = 1_000_000;

/** The customer who calls: the account's admin wallet, by a key of the account or by an `X-Wallet-Auth` proof. */
function customerOf(node: Node, headers: IncomingHttpHeaders): string {
  const proof = headers["x-wallet-auth"];
  if (typeof proof === "string") return walletProof(proof, node);
  return authenticate(node, headers).account.admin;
}

export const billingRoutes: readonly Route[] = [
  open({
    method: "GET",
    path: "/billing/stripe_config",
    access: "open",
    status: 200,
    reads: nothing,
    handle: () => ({ publishableKey: "pk_sandbox_harbour" }),
  }),
  open({
    method: "GET",
    path: "/billing/balance",
    access: "customer",
    status: 200,
    reads: nothing,
    handle: ({ node, headers }) => ({
      credit: { amount: (node.creditOf(customerOf(node, headers)) / 100).toFixed(2), currency: "USD" },
    }),
  }),
  open({
    method: "POST",
    path: "/billing/create_payment_intent",
    access: "customer",
    status: 201,
    reads: object({ amount_cents: integer(MINIMUM_CENTS, MAXIMUM_CENTS) }),
    handle({ node, headers, fields }) {
      const customer = customerOf(node, headers);
      const id = `pi_${randomBytes(12).toString("hex")}`;
      const secret = `${id}_secret_${randomBytes(12).toString("hex")}`;
      node.intents.set(id, { customer, cents: fields.amount_cents, secret, state: "open" });
      return { client_secret: secret };
    },
  }),
  open({
    method: "POST",
    path: "/billing/confirm_payment",
    access: "customer",
    status: 204,
    reads: object({ payment_intent_id: text }),
    handle({ node, headers, fields }) {
      const customer = customerOf(node, headers);
      const intent = node.intents.get(fields.payment_intent_id);
      if (intent === undefined || intent.customer !== customer) throw unknown("payment-intent");
      if (intent.state !== "paid") throw conflict(`The payment intent is ${intent.state}`);
      intent.state = "credited";
      node.addCredit(customer, intent.cents);
    },
  }),
];

/** The provider's side, outside the API: pay an intent. The receipt goes to the email of `new_account`. */
export const providerRoutes: readonly Route[] = [
  open({
    method: "POST",
    path: "/sandbox/pay",
    access: "open",
    status: 200,
    reads: object({ client_secret: text }),
    handle({ node, fields }) {
      const found = [...node.intents.entries()].find(([, intent]) => intent.secret === fields.client_secret);
      if (found === undefined) throw unknown("payment-intent");
      const [id, intent] = found;
      if (intent.state === "open") intent.state = "paid";
      return { id, status: "succeeded", receipt_email: node.contacts.get(intent.customer) ?? null };
    },
  }),
];
