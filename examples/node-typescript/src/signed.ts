/** Wallet-signed flows: typed data is checked as Authentication, item 6 says; nothing is registered on a chain. */

import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { verifyTypedData } from "ethers";
import { CHAIN_ID } from "./chain.js";
import { address, anyObject, object, signature, text, utf8, type ValueOf } from "./fields.js";
import { malformed, Problem } from "./problems.js";
import { keyed, open, type Route } from "./routes.js";
import type { Node } from "./state.js";
import { addressOf } from "./wallets.js";

const DOMAIN = { name: "Harbour ChainSecured", version: "1", chainId: CHAIN_ID };
const DOMAIN_FIELDS = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
];
const MESSAGE_FIELDS = [
  { name: "address", type: "address" },
  { name: "issuedAt", type: "uint256" },
];
const MAX_BYTES = 4096;
const WINDOW_SECONDS = 300;

const envelope = object({ types: anyObject, primaryType: text, domain: anyObject, message: anyObject });
const message = object({ address, issuedAt: text });
/** Both fields of a proof; `typed_data` is the serialised JSON, in a string. */
const proofFields = { typed_data: text, signature };
const proofBody = object(proofFields);

const rejected = (detail: string) => new Problem(403, "signature-rejected", detail);

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw malformed("The typed data is no JSON");
  }
}

function requireRecent(issuedAt: string, node: Node): void {
  if (!/^[0-9]{1,12}$/.test(issuedAt)) throw rejected("issuedAt: expected Unix seconds in a string");
  const age = Date.now() / 1000 - Number(issuedAt);
  const tooNew = node.fault !== "issued-in-future" && age < -WINDOW_SECONDS;
  if (age > WINDOW_SECONDS || tooNew) throw rejected(`issuedAt: more than ${WINDOW_SECONDS} s from the node's time`);
}

/** The wallet that signed this proof for this flow. */
function signer(proof: ValueOf<typeof proofBody>, primaryType: string, node: Node): string {
  if (Buffer.byteLength(proof.typed_data) > MAX_BYTES) throw rejected("The typed data is over 4 KiB");
  const data = envelope.read(parse(proof.typed_data), "typed_data");
  const types = { EIP712Domain: DOMAIN_FIELDS, [primaryType]: MESSAGE_FIELDS };
  if (data.primaryType !== primaryType) throw rejected(`primaryType: expected ${primaryType}`);
  if (!isDeepStrictEqual(data.types, types)) throw rejected("types: not the canonical shape");
  if (!isDeepStrictEqual(data.domain, DOMAIN)) throw rejected("domain: not that of this node");
  const claim = message.read(data.message, "message");
  requireRecent(claim.issuedAt, node);
  if (recovered(primaryType, claim, proof.signature) !== claim.address) {
    throw rejected("The signature is not that of message.address");
  }
  return claim.address;
}

function recovered(primaryType: string, claim: ValueOf<typeof message>, bytes: string): string | null {
  try {
    return verifyTypedData(DOMAIN, { [primaryType]: MESSAGE_FIELDS }, claim, bytes).toLowerCase();
  } catch {
    return null;
  }
}

/** The wallet behind an `X-Wallet-Auth` header: base64url of the JSON `{"typed_data": "…", "signature": "0x…"}`. */
export function walletProof(header: string, node: Node): string {
  const proof = proofBody.read(parse(utf8(Buffer.from(header, "base64url"))), "X-Wallet-Auth");
  return signer(proof, "BillingAuth", node);
}

export const signedRoutes: readonly Route[] = [
  open({
    method: "POST",
    path: "/create_wallet_with_signature",
    access: "open",
    status: 201,
    reads: proofBody,
    handle({ node, fields }) {
      signer(fields, "CreateWallet", node);
      const pkp = node.mint();
      return { wallet_address: addressOf(pkp), derivation_path: pkp.path };
    },
  }),
  open({
    method: "POST",
    path: "/add_usage_api_key_with_signature",
    access: "open",
    status: 201,
    reads: proofBody,
    handle({ node, fields }) {
      signer(fields, "AddUsageApiKey", node);
      const pkp = node.mint();
      const secret = randomBytes(32).toString("base64");
      return { usage_api_key: secret, wallet_address: addressOf(pkp), derivation_path: pkp.path };
    },
  }),
  keyed({
    method: "POST",
    path: "/convert_to_chain_secured_account",
    access: "account",
    status: 204,
    charged: "write",
    reads: object({ ...proofFields, new_admin_wallet_address: address }),
    handle({ node, caller, fields }) {
      const admin = signer(fields, "ConvertAccount", node);
      if (admin !== fields.new_admin_wallet_address) throw rejected("message.address is not the new admin");
      caller.account.admin = admin;
      caller.account.managed = false;
    },
  }),
];
